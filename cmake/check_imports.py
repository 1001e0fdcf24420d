# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every import of the Python package follows the dependency direction of docs/design/structure.md.

Usage: check_imports.py ROOT. Exit 0 if all is well, 1 with one line per violation otherwise. `import memtrace` itself
is not counted: it is loaded before any of its parts.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path("interpose/python/memtrace")
# Folders from the lowest up, and the folders that each may import besides itself. All of these come before it, so no
# two folders import each other.
MAY_IMPORT: dict[str, str] = {
    "_text": "",
    "_patching": "_text",
    "_core": "_patching",
    "_program": "_patching _core",
    "_start": "_text _patching _core",
    "_process": "_text _patching _core _program _start",
    "_holders": "_patching _core _program _process",
    "_hooks": "_text _patching _core _program _process _holders",
    "_changes": "_text _patching _core _process",
    "_asleep": "_text _patching _core _start _process",
    "_public": "_text _core _program _start _process _holders _asleep",
    "_apply": "_text _core _program _start _process _changes _public",
    "_scratch": "_patching _core",
    "_forks": "_patching _core _program _start _process _scratch",
    "_virtual_ranks": "_text _patching _core _process _hooks",
    "_fit": "_text _patching _core _program _process _holders _changes _apply _scratch _forks _virtual_ranks",
    "_estimate": "_text _patching _core _start",
    "_fleet": "_text _core",
    "_bench": "_patching _core",
    "inject": "",
    "": "_text _core _process _start _asleep _public _apply _estimate",  # the files of the package's own folder
}
# Functions may import these as well, when they are called: the start of a process begins all others.
MAY_IMPORT_LATER: dict[str, str] = {
    "_start": "_process _hooks _asleep _apply _virtual_ranks _fit",
    "_asleep": "_public",
    "_virtual_ranks": "_fit",
    "inject": "_patching _scratch _forks",
}


def rows_out_of_order() -> list[str]:
    """Returns the rows that name a folder which does not come before their own."""
    seen: set[str] = set()
    found = []
    for folder, uses in MAY_IMPORT.items():
        found += [f"{folder} may not import {use}, which comes after it" for use in uses.split() if use not in seen]
        seen.add(folder)
    return found


def imported(node: ast.AST) -> list[str]:
    """Returns the names of the package's modules that a statement imports; a name of a module may follow each."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
    else:
        names = []
    return [name for name in names if name.startswith((".", "memtrace."))]


def imports(node: ast.AST, is_later: bool = False) -> Iterator[tuple[int, str, bool]]:
    """Yields the line, the name and True if it is inside a function, for each import below a node."""
    for child in ast.iter_child_nodes(node):
        for name in imported(child):
            yield child.lineno, name, is_later
        yield from imports(child, is_later or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))


def folder_of(file: Path) -> str:
    return file.parts[0] if len(file.parts) > 1 else ""


def target_of(root: Path, name: str) -> str:
    """Returns the folder that an imported name is in."""
    part = name.split(".")[1]
    return part if (root / PACKAGE / part).is_dir() else ""


def violations(root: Path) -> list[str]:
    found = rows_out_of_order()
    for path in sorted((root / PACKAGE).rglob("*.py")):
        home = folder_of(path.relative_to(root / PACKAGE))
        if home not in MAY_IMPORT:
            found.append(f"{path.relative_to(root)}: {home} has no row in cmake/check_imports.py")
            continue
        for line, name, is_later in imports(ast.parse(path.read_text())):
            may = MAY_IMPORT[home].split() + (MAY_IMPORT_LATER.get(home, "").split() if is_later else [])
            where = f"{path.relative_to(root)}:{line}"
            if name.startswith("."):
                found.append(f"{where}: {name} is to be written with all of its name")
            elif target_of(root, name) not in (home, *may):
                found.append(f"{where} must not import {name}: {home or 'the package'} may use {may}")
    return found


if __name__ == "__main__":
    wrong = violations(Path(sys.argv[1]))
    print("\n".join(wrong) or "every import follows the dependency direction")
    sys.exit(1 if wrong else 0)
