# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Calls in the text of the user's files that make a moment of the job, and if they can still come.

A call comes if a running function has it after its current line, or in the same loop; or if a function has it that is
called by a call that comes. Nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from memtrace._core.vocabulary import MOMENT_BEST_MODEL, MOMENT_EVALUATION, MOMENT_GENERATION, MOMENT_RESUME

_MOMENTS = {
    "eval": MOMENT_EVALUATION,
    "evaluate": MOMENT_EVALUATION,
    "generate": MOMENT_GENERATION,
    "merge_and_unload": MOMENT_BEST_MODEL,
}
_RESUMING = ("resume_from_checkpoint", "ckpt_path")  # arguments by which frameworks resume
_MOST_CALLERS = 8  # callers of callers that are followed
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
# Methods that frameworks call by their names.
_CALLED_BY_NAME = ("on_", "validation_", "test_", "predict_", "prediction_")


class Site(NamedTuple):
    """A call that makes a moment."""

    moment: str
    name: str  # of the method, or of the argument by which a framework resumes
    path: str
    first: int  # line
    last: int


class RunningLine(NamedTuple):
    """The line at which a function of the user is."""

    path: str
    function: str  # its name; "<module>" for a file's own lines
    line: int


class CallSites:
    """The calls in some files."""

    def __init__(self) -> None:
        """Begins without files."""
        self._files: list[_File] = []

    def read(self, path: str, tree: ast.Module) -> None:
        """Adds a file."""
        self._files.append(_File(path, tree))

    def to_come(self, running: list[RunningLine]) -> Iterator[Site]:
        """Yields the calls that can still come, if the program is at these lines."""
        lines: dict[ast.AST, int] = {}
        for place in running:
            for file in self._files:
                if file.path == place.path:
                    lines.setdefault(file.function_at(place), place.line)
        for file in self._files:
            for node, moment, name in file.calls:
                if self._can_come(file, node, lines):
                    yield Site(moment, name, file.path, node.lineno, node.end_lineno or node.lineno)

    def resuming(self) -> Iterator[Site]:
        """Yields the calls with an argument by which a framework resumes a job, unless it is never set."""
        for file in self._files:
            for node, name in file.resuming:
                yield Site(MOMENT_RESUME, name, file.path, node.lineno, node.end_lineno or node.lineno)

    def _can_come(self, file: _File, node: ast.expr, lines: dict[ast.AST, int]) -> bool:
        """True if the node comes. Looks at each function once: in large sources all call each other by common names."""
        seen: set[ast.AST] = set()
        level = [(file, node)]
        for _ in range(_MOST_CALLERS + 1):
            following: list[tuple[_File, ast.expr]] = []
            for holder, use in level:
                function = holder.function_of(use)
                if function in lines:
                    if _is_after(holder.ancestors(use, function), use, lines[function]):
                        return True
                elif isinstance(function, _FUNCTIONS) and function not in seen:
                    if holder.is_method(function) and function.name.startswith(_CALLED_BY_NAME):
                        return True
                    seen.add(function)
                    following += self._callers_of(holder, function)
            level = following
        return False

    def _callers_of(self, file: _File, function: _Function) -> list[tuple[_File, ast.expr]]:
        """Returns where the function's name is used outside of it."""
        return [
            (other, use)
            for other in self._files
            for use in other.uses(function.name)
            if other is not file or not _is_within(use, function)
        ]


class _File:
    """A file's text, with the way from each node outwards."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self._tree = tree
        self._around = {inner: outer for outer in ast.walk(tree) for inner in ast.iter_child_nodes(outer)}
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self.calls = [(node, *found) for node in nodes if (found := _moment_of(node))]
        self.resuming = [(node, name) for node in nodes if (name := _resumes(node))]
        self._uses: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute):
                used = node.id if isinstance(node, ast.Name) else node.attr
                self._uses.setdefault(used, []).append(node)

    def uses(self, name: str) -> list[ast.expr]:
        """Returns where a name is used, as a variable or an attribute."""
        return self._uses.get(name, [])

    def function_of(self, node: ast.AST) -> ast.AST:
        """Returns the innermost function around a node, or the file."""
        around = self._around.get(node)
        while around is not None and not isinstance(around, _FUNCTIONS):
            around = self._around.get(around)
        return self._tree if around is None else around

    def function_at(self, place: RunningLine) -> ast.AST:
        """Returns the function that runs there, or the file."""
        found: ast.AST = self._tree
        for node in ast.walk(self._tree):  # inner ones come after outer ones
            if isinstance(node, _FUNCTIONS) and node.lineno <= place.line <= (node.end_lineno or node.lineno):
                found = node
        return self._tree if place.function == "<module>" else found

    def is_method(self, function: ast.AST) -> bool:
        """True if the function is in the body of a class."""
        return isinstance(self._around.get(function), ast.ClassDef)

    def ancestors(self, node: ast.AST, function: ast.AST) -> list[ast.AST]:
        """Returns the statements around a node within its function, the innermost first."""
        found: list[ast.AST] = []
        around = self._around.get(node)
        while around is not None and around is not function:
            found.append(around)
            around = self._around.get(around)
        return found


def _moment_of(call: ast.Call) -> tuple[str, str] | None:
    """Returns the moment that a call makes, and the method's name."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _MOMENTS:
        return None
    name = call.func.attr
    if name == "eval" and (call.args or call.keywords):
        return None  # of a table, not of a model
    return _MOMENTS[name], name


def _resumes(call: ast.Call) -> str:
    for keyword in call.keywords:
        never = isinstance(keyword.value, ast.Constant) and not keyword.value.value
        if keyword.arg in _RESUMING and not never:
            return str(keyword.arg)
    return ""


def _is_after(ancestors: list[ast.AST], node: ast.expr, line: int) -> bool:
    """True if the node comes after the line of the function that is running, or again in its loop."""
    if node.lineno <= line <= (node.end_lineno or node.lineno):
        return False  # it is running
    if any(isinstance(around, _LOOPS) and _has_line(around, line) for around in ancestors):
        return True
    return node.lineno > line and not any(_is_other_branch(around, node, line) for around in ancestors)


def _is_other_branch(around: ast.AST, node: ast.AST, line: int) -> bool:
    """True if the node is run only if the line is not: in the other branch, or after an error."""
    if isinstance(around, ast.ExceptHandler):
        return not _has_line(around, line)
    if not isinstance(around, ast.If):
        return False
    bodies = [any(_has_line(part, line) for part in body) for body in (around.body, around.orelse)]
    in_else = any(_is_within(node, part) for part in around.orelse)
    return bodies[0] if in_else else bodies[1]


def _has_line(around: ast.AST, line: int) -> bool:
    first = getattr(around, "lineno", 0)
    return bool(first <= line <= (getattr(around, "end_lineno", 0) or first))


def _is_within(node: ast.AST, around: ast.AST) -> bool:
    return _has_line(around, getattr(node, "lineno", 0))
