"""Manual pages and shell completion, made of what --help says.

    python -m mutirao.cli.manual FOLDER    writes them below a `share` folder, and prints their paths
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mutirao import __version__
from mutirao.cli.cli import GROUPS, Command, make_parser

def _options(command: Command) -> list[argparse.Action]:
    return [action for action in command.parser._actions
            if action.help and action.help != argparse.SUPPRESS and not isinstance(action, argparse._SubParsersAction)]


def manual_page(command: Command) -> str:
    name, parser = "-".join(command.words), command.parser
    lines = [f'.TH {name.upper()} 1 "" "mutirao {__version__}" "User Commands"',
             ".SH NAME", f"{_escaped(name)} \\- {_escaped(command.summary)}",
             ".SH SYNOPSIS", ".nf", _escaped(parser.format_usage().removeprefix("usage: ")), ".fi"]
    if parser.description:
        lines += [".SH DESCRIPTION", _escaped(parser.description)]
    formatter = parser._get_formatter()
    lines += [".SH OPTIONS"] if _options(command) else []
    for action in _options(command):
        lines += [".TP", f".B {_escaped(formatter._format_action_invocation(action))}",
                  _escaped(formatter._expand_help(action))]
    lines += [".SH COMMANDS"] if command.children else []
    headings = {names[0]: heading for heading, names in GROUPS.items()} if len(command.words) == 1 else {}
    for each in command.children:
        lines += [f".SS {headings[each.words[-1]]}"] if each.words[-1] in headings else []
        lines += [".TP", f".BR {_escaped('-'.join(each.words))} (1)", _escaped(each.summary)]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line
                     for line in escaped.splitlines())


def bash_completion(found: Sequence[Command]) -> str:
    """Commands, options and what an option may be; files for everything else."""
    cases = []
    for each in found:
        offered = [word for action in each.parser._actions for word in action.option_strings or map(
            str, getattr(action, "completions", action.choices) or ())]
        cases.append(f'        "{" ".join(each.words)}") words="{" ".join(offered)}" ;;')
    values = {option: action.choices for each in found for action in each.parser._actions
              for option in action.option_strings if action.choices}
    of_options = [f'        {option}) words="{" ".join(map(str, choices))}" ;;'
                  for option, choices in sorted(values.items())]
    return "\n".join([
        "# Completion for bash, and for zsh after `autoload -U bashcompinit && bashcompinit`.",
        "_mutirao() {",
        '    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}',
        '    local path=mutirao word words=""',
        '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        '        case "$path $word" in',
        *(f'            "{" ".join(each.words)}") path="{" ".join(each.words)}" ;;' for each in found[1:]),
        "        esac",
        "    done",
        '    case "$path" in', *cases, "    esac",
        '    case "$previous" in', *of_options, "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "}",
        "complete -o default -F _mutirao mutirao", ""])


def write(share: Path) -> Iterator[Path]:
    parser = make_parser()
    whole = Command((parser.prog,), parser, parser.description)
    found = [whole, *whole.all_below()]
    texts = {share / "man" / "man1" / f"{'-'.join(each.words)}.1": manual_page(each) for each in found}
    texts[share / "bash-completion" / "completions" / "mutirao"] = bash_completion(found)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        yield path


if __name__ == "__main__":
    print(*write(Path(sys.argv[1])), sep="\n")
