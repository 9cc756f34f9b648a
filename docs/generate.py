"""Write the pages of ``docs/reference/`` that can be made of the code: checks, commands, errors, and compliance of the
tests.

``python docs/generate.py`` writes them, ``--check`` says whether they are up to date (exit code 1 when not).
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import os
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
NOTE = "<!-- Made by docs/generate.py; change the code, not this page. -->\n\n"
LEVELS = {"Error": "error", "Warning": "warning", "Info": "info"}


def main() -> int:
    """Write or check the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a page is out of date")
    check = parser.parse_args().check
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")
    import django

    django.setup()
    stale = []
    pages = {"checks.md": checks, "commands.md": commands, "errors.md": errors, "compliance.md": compliance}
    for name, make in pages.items():
        path, text = FOLDER / name, NOTE + make()
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if not check:
                path.write_text(text)
    if check and stale:
        sys.stderr.write(f"out of date: {', '.join(stale)}; run python docs/generate.py\n")
    return 1 if check and stale else 0


# ---------------------------------------------------------------------------------------------------- checks


def checks() -> str:
    """Return the page of system checks: every message that a module of checks, or a runner, can give."""
    rows: dict[str, list[tuple[str, str, str]]] = {}
    package = importlib.import_module("a2a_django.checks")
    modules = [f"a2a_django.checks.{module.name}" for module in pkgutil.iter_modules(package.__path__)]
    for name in [*modules, "a2a_django.engine.runners.celery", "a2a_django.engine.runners.django_tasks"]:
        source = inspect.getsource(importlib.import_module(name))
        for function in ast.walk(ast.parse(source)):
            if isinstance(function, ast.FunctionDef):
                for check_id, row in _messages(function):
                    if row not in rows.setdefault(check_id, []):
                        rows[check_id].append(row)
    lines = [
        "# System checks",
        "",
        "`manage.py check` says what is wrong with the settings or the agents of a site;",
        "`manage.py check --tag a2a_django` runs these alone, and `--deploy` adds what matters in production.",
        "A warning that is meant can be silenced by its id in Django's `SILENCED_SYSTEM_CHECKS`. An ellipsis",
        "stands for what the check has found.",
        "",
        "| id | level | message | what to do |",
        "| --- | --- | --- | --- |",
    ]
    for check_id in sorted(rows, key=lambda each: each[-3:]):
        for level, message, hint in rows[check_id]:
            lines.append(f"| `{check_id}` | {level} | {_cell(message)} | {_cell(hint)} |")
    return "\n".join(lines) + "\n"


def _messages(function: ast.FunctionDef) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield id, level, message and hint of what a function of checks can give."""
    assigned = sorted(
        (
            (node.lineno, target.id, node.value)
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        ),
        key=lambda each: each[0],
    )
    for node in ast.walk(function):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LEVELS):
            continue
        texts = {name: value for line, name, value in assigned if line < node.lineno}
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        check_id = _text(named.get("id"), texts)
        if re.fullmatch(r"a2a_django\.[EWI]\d{3}", check_id):
            message = _text(node.args[0] if node.args else named.get("msg"), texts)
            yield check_id, (LEVELS[node.func.id], message, _text(named.get("hint"), texts))


def _text(node: ast.expr | None, names: dict[str, ast.expr]) -> str:
    """Return what an expression of a text says, with an ellipsis for what is known only at run time."""
    match node:
        case None:
            return ""
        case ast.Constant(value=str() as text):
            return text
        case ast.Constant():
            return ""
        case ast.JoinedStr(values=values):
            return "".join(_text(value, names) for value in values)
        case ast.Name(id=name) if name in names:
            return _text(names[name], {key: value for key, value in names.items() if key != name})
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left, names) + _text(right, names)
    return "…"


def _cell(text: str) -> str:
    text = " ".join(text.split())
    return re.sub(r"([|<>*_`\[\]])", r"\\\1", text) or " "


# ---------------------------------------------------------------------------------------------------- commands


def commands() -> str:
    """Return the page of management commands, as their ``--help`` has them."""
    lines = ["# Management commands", "", "Options that every command of Django has are left out here.", ""]
    package = importlib.import_module("a2a_django.management.commands")
    for module in sorted(each.name for each in pkgutil.iter_modules(package.__path__) if not each.name.startswith("_")):
        command = importlib.import_module(f"a2a_django.management.commands.{module}").Command()
        parser = command.create_parser("manage.py", module)
        lines += [f"## {module}", "", (parser.description or "").strip(), ""]
        rows = [_option(action) for action in parser._actions if action.dest not in _COMMON]
        if rows:
            lines += ["| argument | meaning |", "| --- | --- |", *rows, ""]
    return "\n".join(lines)


_COMMON = {
    "help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks",
}  # fmt: skip


def _option(action: argparse.Action) -> str:
    name = ", ".join(action.option_strings) or action.dest
    if action.option_strings and action.nargs != 0:
        name += f" {action.metavar or action.dest.upper()}".replace("|", "\\|")
    meaning = str(action.help or "") % {"default": action.default, "prog": "manage.py"}
    return f"| `{name}` | {_cell(meaning)} |"


# ---------------------------------------------------------------------------------------------------- errors


def errors() -> str:
    """Return the table of errors that callers may meet."""
    module = importlib.import_module("a2a_django.protocol.errors")
    lines = [
        "# Errors",
        "",
        "What callers get when something is wrong, in each binding (specification 1.0.1, section 5.4). The reason",
        "stands in the `google.rpc.ErrorInfo` of the details, wrong fields in a `google.rpc.BadRequest`, and",
        "what passes by itself has a `google.rpc.RetryInfo` and, over HTTP, `Retry-After`.",
        "",
        "| error | JSON-RPC | HTTP | gRPC | reason | message by default |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, kind in inspect.getmembers(module, inspect.isclass):
        if issubclass(kind, module.A2AError) and kind is not module.A2AError:
            lines.append(
                f"| {name.removesuffix('Error')} | {kind.code} | {kind.http_status} | `{kind.grpc_status}` |"
                f" `{kind.reason}` | {_cell(kind.default)} |"
            )
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------------------------- compliance


def compliance() -> str:
    """Return the matrix: for each section of the specification the tests that prove it, by their ``spec`` marks."""
    from docs.sections import NOT_SUPPORTED, SECTIONS

    proofs: dict[str, dict[str, int]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for section, count in _marked(ast.parse(path.read_text())).items():
            proofs.setdefault(section, {})[str(path.relative_to(ROOT / "tests"))] = count
    known = [number for number, _ in SECTIONS]
    if strange := sorted(set(proofs) - set(known)):
        raise SystemExit(f"tests are marked with sections that docs/sections.py does not have: {strange}")
    if bare := [number for number in known if number not in proofs]:
        raise SystemExit(f"sections without a test: {bare}")
    lines = [
        "# Compliance",
        "",
        "The sections of specification 1.0.1 that ask something of a server, and our tests that prove them: those that",
        'bear `@pytest.mark.spec("...")`. Parametrized tests, over bindings and databases, count once.',
        "The black-box suite (`make acceptance`) and the official clients (`make interop`) run besides.",
        "",
        "| section | what | tests | where |",
        "| --- | --- | --: | --- |",
    ]
    for number, title in SECTIONS:
        files = proofs[number]
        where = ", ".join(f"`{name}`" for name in files)
        lines.append(f"| {number} | {title} | {sum(files.values())} | {where} |")
    lines += ["", "## Not supported", "", "| section | what |", "| --- | --- |"]
    lines += [f"| {number} | {words} |" for number, words in NOT_SUPPORTED]
    return "\n".join(lines) + "\n"


def _marked(tree: ast.Module) -> dict[str, int]:
    """Count a module's tests by the sections that they, their class or the module are marked with."""
    counts: dict[str, int] = {}

    def visit(body: list[ast.stmt], around: set[str]) -> None:
        around = around.union(*(_sections(node.value) for node in body if _is_pytestmark(node)))
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                own = around.union(*map(_sections, node.decorator_list))
                if isinstance(node, ast.ClassDef):
                    visit(node.body, own)
                elif node.name.startswith("test_"):
                    for section in own:
                        counts[section] = counts.get(section, 0) + 1

    visit(tree.body, set())
    return counts


def _is_pytestmark(node: ast.stmt) -> TypeGuard[ast.Assign]:
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets)


def _sections(marks: ast.expr) -> set[str]:
    """Return the sections in ``pytest.mark.spec(...)``, also in a list of marks."""
    return {
        argument.value
        for call in ast.walk(marks)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "spec"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


if __name__ == "__main__":
    sys.exit(main())
