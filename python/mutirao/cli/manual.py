"""Manual pages and shell completion, made of what --help says.

    python -m mutirao.cli.manual FOLDER    writes them below a `share` folder, and prints their paths
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from mutirao import __version__
from mutirao.cli.cli import GROUPS, make_parser

Parsers = dict[tuple[str, ...], argparse.ArgumentParser]


def parsers(parser: argparse.ArgumentParser, words: tuple[str, ...] = ("mutirao",)) -> Parsers:
    """Of the command and all below it, by the words that lead there."""
    found = {words: parser}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for row in action._choices_actions:
                found |= parsers(action.choices[row.dest], (*words, row.dest))
    return found


def manual_page(words: tuple[str, ...], parser: argparse.ArgumentParser, summary: str) -> str:
    name = "-".join(words)
    lines = [f'.TH {name.upper()} 1 "" "mutirao {__version__}" "User Commands"',
             ".SH NAME", f"{_escaped(name)} \\- {_escaped(summary)}",
             ".SH SYNOPSIS", ".nf", _escaped(parser.format_usage().removeprefix("usage: ")), ".fi"]
    if parser.description:
        lines += [".SH DESCRIPTION", _escaped(parser.description)]
    formatter = parser._get_formatter()
    rows = [(formatter._format_action_invocation(action), formatter._expand_help(action))
            for action in parser._actions
            if action.help and action.help != argparse.SUPPRESS and not isinstance(action, argparse._SubParsersAction)]
    if rows:
        lines.append(".SH OPTIONS")
        for invocation, text in rows:
            lines += [".TP", f".B {_escaped(invocation)}", _escaped(text)]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            lines.append(".SH COMMANDS")
            headings = {names[0]: heading for heading, names in GROUPS.items()} if len(words) == 1 else {}
            for row in action._choices_actions:
                lines += [f".SS {headings[row.dest]}"] if row.dest in headings else []
                lines += [".TP", f".BR {_escaped(f'{name}-{row.dest}')} (1)", _escaped(row.help or "")]
    if len(words) > 1:
        lines += [".SH SEE ALSO", ".BR mutirao (1)"]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line
                     for line in escaped.splitlines())


def summaries(found: Parsers) -> dict[tuple[str, ...], str]:
    """What the command above says of each."""
    said = {("mutirao",): found["mutirao",].description}
    for words, parser in found.items():
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                said |= {(*words, row.dest): row.help for row in action._choices_actions}
    return said


def bash_completion(found: Parsers) -> str:
    """Commands, options and what an option may be; files for everything else."""
    cases = []
    for words, parser in found.items():
        offered = []
        for action in parser._actions:
            offered += action.option_strings
            if not action.option_strings:
                offered += map(str, getattr(action, "completions", action.choices) or ())
        cases.append(f'        "{" ".join(words)}") words="{" ".join(offered)}" ;;')
    values = {option: action.choices for parser in found.values() for action in parser._actions
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
        *(f'            "{" ".join(words)}") path="{" ".join(words)}" ;;'
          for words in found if len(words) > 1),
        "        esac",
        "    done",
        '    case "$path" in', *cases, "    esac",
        '    case "$previous" in', *of_options, "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "}",
        "complete -o default -F _mutirao mutirao", ""])


def write(share: Path) -> Iterator[Path]:
    found = parsers(make_parser())
    said = summaries(found)
    texts = {share / "man" / "man1" / f"{'-'.join(words)}.1":
             manual_page(words, parser, said.get(words) or "")
             for words, parser in found.items()}
    texts[share / "bash-completion" / "completions" / "mutirao"] = bash_completion(found)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        yield path


if __name__ == "__main__":
    print(*write(Path(sys.argv[1])), sep="\n")
