# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds, in a program's source, loops whose passes wait for one backward after the loop."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_BACKWARDS = frozenset({"backward", "manual_backward"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MAY_BE_SKIPPED = (ast.If, ast.Try, ast.IfExp, ast.BoolOp, *_COMPREHENSIONS)


@dataclass(frozen=True)
class AccumulatingLoop:
    """A loop, the name in which it accumulates or that it hands on, and the backward call after it."""

    name: str
    loop: int  # line
    backward: int  # line
    hands_on: bool = False  # each pass uses the result of the one before


@dataclass(frozen=True)
class _Touch:
    name: str  # "state", "self.state"
    sets: bool
    is_certain: bool


def loop_at(tree: ast.AST, line: int) -> AccumulatingLoop | None:
    """Finds the outermost such loop whose body, or whose backward, has the line; None if there is none.

    Iterations that read the result of the one before do not accumulate: a backward of their own would need the graph of
    that one. If the backward needs the value that is handed on, the loop is one that hands on.
    """
    scope = _scope_of(tree, line)
    loops = [node for node in _own_nodes(scope) if isinstance(node, _LOOPS)]
    calls = sorted(filter(_is_backward, _own_nodes(scope)), key=_line)
    for loop in sorted(loops, key=lambda loop: loop.lineno):
        after = [call for call in calls if _line(call) > _end(loop)]
        alike = [call for call in after if _around(call, loops) == _around(loop, loops)]
        if not alike or not (_has(loop, line) or _has(alike[0], line)) or any(_is_backward(n) for n in ast.walk(loop)):
            continue
        needed = _names_behind(alike[0], loop, scope)
        carried = _carried(loop)
        if (sums := _sums(loop) & needed) and not carried:
            return AccumulatingLoop(min(sums), loop.lineno, _line(alike[0]))
        if handed_on := carried & needed or (carried if _sums(loop) & needed else set()):
            return AccumulatingLoop(min(handed_on), loop.lineno, _line(alike[0]), hands_on=True)
    return None


def _scope_of(tree: ast.AST, line: int) -> ast.AST:
    functions = [node for node in ast.walk(tree) if isinstance(node, _SCOPES[:2]) and _has(node, line)]
    return max(functions, key=_line, default=tree)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yields all nodes below, except those of functions and classes that are defined there."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, _SCOPES):
            yield child
            yield from _own_nodes(child)


def _has(node: ast.AST, line: int) -> bool:
    return _line(node) <= line <= _end(node)


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _end(node: ast.AST) -> int:
    return int(getattr(node, "end_lineno", None) or _line(node))


def _around(node: ast.AST, loops: Sequence[ast.AST]) -> list[int]:
    """Lists the lines of the loops around the node."""
    return sorted(_line(loop) for loop in loops if loop is not node and _has(loop, _line(node)))


def _is_backward(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _BACKWARDS


def _names_behind(call: ast.AST, loop: ast.AST, scope: ast.AST) -> set[str]:
    """Returns the names in a backward call, and those that they were computed from after the loop."""
    names = _names(call)
    assignments = [node for node in _own_nodes(scope) if isinstance(node, ast.Assign)]
    between = [node for node in assignments if _end(loop) < _line(node) <= _line(call)]
    for assignment in sorted(between, key=_line, reverse=True):
        if any(target in names for target in map(_text, assignment.targets)):
            names |= _names(assignment.value)
    return names


def _names(node: ast.AST) -> set[str]:
    return {_text(part) for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))}


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _sums(loop: ast.AST) -> set[str]:
    """Returns the names that the loop only adds to or appends to."""
    updates = [name for node in _own_nodes(loop) if (name := _updated(node))]
    loads = [_text(node) for node in _own_nodes(loop) if _is_loaded(node)]
    return {name for name in updates if loads.count(name) == updates.count(name) - _added_in_place(loop, name)}


def _updated(node: ast.AST) -> str:
    """Returns the name in `name += x`, `name = name + x` or `name.append(x)`; else ""."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return _text(node.target)
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and _text(node.targets[0]) in _addends(node.value):
        return _text(node.targets[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        return _text(node.func.value)
    return ""


def _addends(value: ast.AST) -> list[str]:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return _addends(value.left) + _addends(value.right)
    return [_text(value)] if isinstance(value, (ast.Name, ast.Attribute)) else []


def _added_in_place(loop: ast.AST, name: str) -> int:
    """Counts `name += x`, which does not load the name."""
    return sum(isinstance(node, ast.AugAssign) and _text(node.target) == name for node in _own_nodes(loop))


def _is_loaded(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)


def _carried(loop: ast.AST) -> set[str]:
    """Returns the names that an iteration may read before it sets them, except those that only accumulate."""
    touches = list(_touches(loop, True))
    first_set: set[str] = set()
    read: set[str] = set()
    for touch in touches:
        if not touch.sets and touch.name not in first_set:
            read.add(touch.name)
        if touch.sets and touch.is_certain:
            first_set.add(touch.name)
    return (read & {touch.name for touch in touches if touch.sets}) - _sums(loop)


def _touches(node: ast.AST, is_certain: bool) -> Iterator[_Touch]:
    """Yields reads and writes of names, in the order in which they happen."""
    if isinstance(node, ast.AugAssign):
        yield _Touch(_text(node.target), False, is_certain)
        yield from _touches(node.value, is_certain)
        yield _Touch(_text(node.target), True, is_certain)
        return
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield _Touch(_text(node), not isinstance(node.ctx, ast.Load), is_certain)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield _Touch(_text(node.value), True, False)
        return
    certain = is_certain and not isinstance(node, _MAY_BE_SKIPPED)
    own = _own_variables(node)
    for child in _in_order(node):
        yield from (touch for touch in _touches(child, certain) if touch.name not in own)


def _own_variables(node: ast.AST) -> set[str]:
    """Returns the variables of a comprehension, which the loop around it does not see."""
    if not isinstance(node, _COMPREHENSIONS):
        return set()
    return set().union(*(_names(each.target) for each in node.generators))


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yields a node's children; the value of an assignment and the iterable of a loop come first."""
    if isinstance(node, ast.Assign):
        yield node.value
        yield from node.targets
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield from (node.iter, node.target, *node.body, *node.orelse)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield from (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
    elif not isinstance(node, _SCOPES):
        yield from ast.iter_child_nodes(node)
