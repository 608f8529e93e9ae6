"""The packages of the command line and of the studies: which may import which, and that none does so round about."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from mutirao.base.paths import ROOT

PRODUCT = ROOT / "python" / "mutirao"
STUDIES = ROOT / "studies" / "mutirao_studies"
# What has a command line of its own, and so the same parser and exit codes.
HAS_A_COMMAND_LINE = {STUDIES / "bars" / "__main__.py", *(STUDIES / "commands").glob("*.py")}


@cache
def imported(path):
    """The modules that it imports, anywhere in it; of packages also what is taken from them."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by dots"
            found += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
    return found


def arrows(root):
    """By package below it, or module beside them: the others that it imports."""
    known = {path.stem for path in root.iterdir() if path.suffix in ("", ".py")}
    of_each = {}
    for path in sorted(root.rglob("*.py")):
        package = path.relative_to(root).parts[0].removesuffix(".py")
        words = [name.split(".") for name in imported(path) if name.startswith(f"{root.name}.")]
        of_each.setdefault(package, set()).update({word[1] for word in words} & known - {package})
    return of_each


def test_packages_import_each_other_in_one_direction():
    order = list(TopologicalSorter(arrows(PRODUCT)).static_order())
    assert order.index("base") < order.index("run") < order.index("measure") < order.index("cli")
    order = list(TopologicalSorter(arrows(STUDIES)).static_order())
    assert order.index("document") < order.index("paper_000") < order.index("commands")


def test_the_product_imports_nothing_of_the_studies():
    paths = list(PRODUCT.rglob("*.py"))
    assert not [path for path in paths if any(name.startswith(STUDIES.name) for name in imported(path))]
    assert [path.name for path in paths if STUDIES.name in path.read_text()] == ["studies.py"]


def test_what_has_no_command_line_imports_none():
    assert {package for package, others in arrows(PRODUCT).items() if "cli" in others} == {"__main__"}
    assert {path for path in STUDIES.rglob("*.py")
            if any(name.startswith("mutirao.cli") for name in imported(path))} <= HAS_A_COMMAND_LINE


def test_no_command_is_imported_but_by_the_command_line():
    for path in (*PRODUCT.rglob("*.py"), *STUDIES.rglob("*.py")):
        if not path.is_relative_to(PRODUCT / "cli"):
            assert not [name for name in imported(path) if name.startswith("mutirao.cli.commands")], path


def test_each_package_says_what_it_is_for():
    for folder in {path.parent for root in (PRODUCT, STUDIES) for path in root.rglob("*.py")}:
        text = (folder / "__init__.py").read_text()
        assert ast.get_docstring(ast.parse(text)), folder
        assert len(text.splitlines()) <= 3, f"{folder} does things"


def test_the_checks_see_a_fault(tmp_path):
    root = tmp_path / "mutirao"
    for name, text in (("a/x", "from mutirao.b import y"), ("b/y", "def f():\n    import mutirao.c.z"),
                       ("c/z", "from mutirao import a")):
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    assert arrows(root) == {"a": {"b"}, "b": {"c"}, "c": {"a"}}
    with pytest.raises(CycleError):
        TopologicalSorter(arrows(root)).prepare()
