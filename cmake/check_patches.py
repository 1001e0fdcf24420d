# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the functions of others that the Python package replaces; checks that nothing is replaced without being listed.

Usage: check_patches.py ROOT [--write]. interpose/python/memtrace/patches.txt, which `memtrace doctor --hooks` prints,
lists all calls of patches.put and the tables of functions that stated_calls.watch is given; --write writes it. Exit 1
with one line per violation if it is outdated, or if a function that wraps another one, or states its allocations, is
assigned to an attribute in another way. What only the trials of `memtrace fit` do to keep files away (_scratch) is not
included.
"""

import ast
import sys
from pathlib import Path

PACKAGE = Path("interpose/python/memtrace")
LIST = PACKAGE / "patches.txt"
_OF_TRIALS = ("_scratch",)
_STATED = "_hooks/stated_calls.py"  # puts the functions that tables of other files name
# These set attributes of their own objects, and of layers of the program: what is noted of a layer would keep it alive.
_OF_OBJECTS = ("_patching/patches.py", "_estimate/by_value.py", "_changes/_pieces.py")


def sources(root: Path) -> list[Path]:
    files = sorted((root / PACKAGE).rglob("*.py"))
    inside = [file.relative_to(root / PACKAGE) for file in files]
    return [
        root / PACKAGE / file for file in inside if file.parts[0] not in _OF_TRIALS and str(file) not in _OF_OBJECTS
    ]


def stated_reason(root: Path) -> str:
    """Returns the reason of every function that _hooks/stated_calls.py replaces."""
    for node in ast.parse((root / PACKAGE / _STATED).read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "REASON":
            return str(ast.literal_eval(node.value))
    raise SystemExit(f"{_STATED}: has no REASON")


def tables(file: Path, tree: ast.Module) -> dict[str, list[str]]:
    """Returns the names in each table of functions that states their roles, by the name of the table."""
    found: dict[str, list[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "Calls" and node.value is not None:
            modules: dict[str, tuple[str, ...]] = ast.literal_eval(node.value)
            found[ast.unparse(node.target)] = [f"{of}.{name}" for of, names in modules.items() for name in names]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "stated_calls.watch":
            continue
        if ast.unparse(node.args[2]) not in found:
            raise SystemExit(f"{file}:{node.lineno}: {ast.unparse(node.args[2])} is to be a table annotated with Calls")
    return found


def rows(root: Path) -> list[str]:
    """Returns a line for each call of put and each function in a table: what is replaced, why, and the file."""
    found = []
    for file in sources(root):
        tree = ast.parse(file.read_text())
        reason = f"{stated_reason(root)} ({file.relative_to(root / PACKAGE)})"
        found += [f"{name}: {reason}" for table in tables(file, tree).values() for name in table]
        if file == root / PACKAGE / _STATED:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) != "patches.put":
                continue
            name, reason = node.args[1], node.args[3]
            if not isinstance(reason, ast.Constant):
                raise SystemExit(f"{file}:{node.lineno}: the reason is to be a literal")
            known, _, why = str(reason.value).partition(": ")
            if isinstance(name, ast.Constant) and known.rpartition(".")[2] != name.value:
                raise SystemExit(f"{file}:{node.lineno}: {known} is not {name.value}")
            found.append(f"{known}: {why} ({file.relative_to(root / PACKAGE)})")
    return sorted(found)


def unlisted(root: Path) -> list[str]:
    """Returns the assignments of wrappers to attributes of objects other than `self`."""
    found = []
    for file in sources(root):
        tree = ast.parse(file.read_text())
        wrappers = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and any("wraps" in ast.unparse(d) for d in node.decorator_list)
        }
        for node in ast.walk(tree):
            is_set = isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr"
            if not is_set and not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)):
                continue
            is_own = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("self.")
            words = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            words |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            if is_set or (not is_own and words & (wrappers | {"with_role"})):
                found.append(f"{file.relative_to(root)}:{node.lineno}: {ast.unparse(node)} is to be a patches.put")
    return found


def main(root: Path, write: bool) -> int:
    text = "\n".join(rows(root)) + "\n"
    wrong = unlisted(root)
    if write:
        (root / LIST).write_text(text)
    elif not (root / LIST).exists() or (root / LIST).read_text() != text:
        wrong.append(f"{LIST}: differs from the calls; run cmake/check_patches.py . --write")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--write" in sys.argv[2:]))
