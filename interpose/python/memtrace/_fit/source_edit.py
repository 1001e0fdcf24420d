# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Puts an argument into a call of a Python file."""

from __future__ import annotations

import ast
import importlib
from dataclasses import dataclass

from memtrace._fit.calls import Call

OPTIMIZER = ""
ARGUMENTS = "Arguments"


@dataclass(frozen=True)
class Edit:
    """Bytes of a file that are replaced by others."""

    begin: int
    end: int
    text: str


@dataclass(frozen=True)
class Argument:
    """An argument that makes a change, and the function that takes it.

    The function "" stands for an optimizer of torch, and "Arguments" for every class whose name ends so or in "Config".
    """

    name: str
    value: str
    of: str
    place: int | None = None  # among the arguments without a name
    may_be_given: bool = False  # the call may have it already, in a dictionary of arguments


def applied(source: bytes, edits: list[Edit]) -> bytes:
    """Returns the file with the edits made; two at one place are made in their order."""
    for begin, number, edit in sorted(((edit.begin, number, edit) for number, edit in enumerate(edits)), reverse=True):
        is_second = any(other.begin == other.end == begin for other in edits[:number])
        comma = ", " if is_second and edit.begin == edit.end and not edit.text.startswith(",") else ""
        source = source[:begin] + (comma + edit.text).encode() + source[edit.end :]
    return source


def edit_for(source: bytes, call: Call, argument: Argument) -> Edit | None:
    """Returns the edit that gives the call the argument.

    Returns None if there is not exactly one such call, if it calls another function, or if a dictionary of its
    arguments may have this one.
    """
    tree = ast.parse(source)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_at(node, call)]
    nodes = [node for node in found if _calls(node, argument.of)]
    if len(nodes) != 1:
        return None
    return _edit(source, nodes[0], argument)


def _is_at(node: ast.Call, call: Call) -> bool:
    if call.column is None:
        return node.lineno <= call.line <= (node.end_lineno or node.lineno)
    place = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
    return place == (call.line, call.end_line, call.column, call.end_column)


def _calls(node: ast.Call, function: str) -> bool:
    called = ast.unparse(node.func).rpartition(".")[2]
    if function == ARGUMENTS:
        return called.endswith(("Arguments", "Config"))
    if function:
        return called == function
    return isinstance(getattr(importlib.import_module("torch.optim"), called, None), type)


def _edit(source: bytes, node: ast.Call, argument: Argument) -> Edit | None:
    name, value = argument.name, argument.value
    if argument.place is not None and len(node.args) > argument.place:
        return Edit(*_range(source, node.args[argument.place]), value)
    for keyword in node.keywords:
        if keyword.arg == name:
            return Edit(*_range(source, keyword.value), value)
    if argument.may_be_given and any(keyword.arg is None for keyword in node.keywords):
        return None
    last = max((_range(source, part)[1] for part in [*node.args, *_values(node)]), default=None)
    close = _range(source, node)[1] - 1
    places = [close] if last is None else [last, close]
    text = f"{name}={value}" if last is None else f", {name}={value}"
    for place in places:
        edit = Edit(place, place, text)
        if _has_argument(applied(source, [edit]), node, name):
            return edit
    return None


def _values(node: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in node.keywords]


def _has_argument(source: bytes, before: ast.Call, name: str) -> bool:
    """True if the same call has the argument, and as many others as before."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset) == (before.lineno, before.col_offset):
            same_function = ast.unparse(node.func) == ast.unparse(before.func)
            names = [keyword.arg for keyword in node.keywords]
            if same_function and name in names and len(node.args) == len(before.args):
                return True
    return False


def _range(source: bytes, node: ast.expr) -> tuple[int, int]:
    """Returns where the node begins and ends in the file."""
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return begins[node.lineno - 1] + node.col_offset, begins[end_line - 1] + end_column
