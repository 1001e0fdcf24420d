# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds a value that a line is about to replace: `self.model = load(name)` drops the old model only after loading.

An attribute, a global name of a function or an element counts if the instructions after the running call only store its
result there. No code of the program runs.
"""

import bisect
import dis
import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType

from memtrace._holders.named_values import attributes, is_a, local_values

_MOST_INSTRUCTIONS = 24  # after the call
# They only use the result, or add a value that the next call takes.
_PLAIN = ("LOAD_", "CALL", "PRECALL", "KW_NAMES", "PUSH_NULL", "CACHE", "NOP", "EXTENDED_ARG")
_STORES = ("STORE_ATTR", "STORE_GLOBAL", "STORE_SUBSCR")
_VARIABLES = ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")


@dataclass(frozen=True)
class Target:
    """The destination of a result: `variable`, attributes of it, and the attribute or key that is replaced."""

    variable: str
    path: tuple[str, ...]
    last: str | int | None  # None: the variable itself
    is_key: bool

    @property
    def name(self) -> str:
        """The target in the program's notation."""
        of = ".".join((self.variable, *self.path))
        if self.last is None:
            return of
        return f"{of}[{self.last!r}]" if self.is_key else f"{of}.{self.last}"

    @property
    def words(self) -> frozenset[str]:
        """Names by which other code could read the value."""
        return frozenset({self.variable} if self.last is None else {str(self.last)})


def replaced_value(frame: FrameType, inner: list[FrameType]) -> list[tuple[str, object]]:
    """Returns the name and the value that the running line of `frame` is about to replace; nothing if it does not.

    `inner` are the program's frames that it has called, which may read that value. The result adds one reference to it.
    """
    target = _target(frame.f_code, frame.f_lasti)
    if target is None or any(target.words & _words(each.f_code) for each in inner):
        return []
    return [(target.name, value) for value in _value(target, frame)]


@functools.lru_cache(maxsize=64)
def _target(code: CodeType, offset: int) -> Target | None:
    listed = _instructions(code)
    begin = bisect.bisect_right([each.offset for each in listed], offset)
    after = listed[begin : begin + _MOST_INSTRUCTIONS]
    stored = next((place for place, each in enumerate(after) if each.opname in _STORES), None)
    if stored is None or not all(each.opname.startswith(_PLAIN) for each in after[:stored]):
        return None
    target = _place_of(after[: stored + 1])
    if target is None:
        return None
    # The instructions before the store must not read the value that is replaced.
    before = (str(each.argval) for each in after[:stored] if each.opname.startswith("LOAD_"))
    return None if list(before).count(target.name.rpartition(".")[2]) else target


@functools.lru_cache(maxsize=16)
def _instructions(code: CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def _place_of(after: list[dis.Instruction]) -> Target | None:
    """Reads `variable.attribute. ... .last`, which is loaded before the store."""
    store, before = after[-1], after[:-1]
    if store.opname == "STORE_GLOBAL":
        return Target(str(store.argval), (), None, is_key=False)
    is_key = store.opname == "STORE_SUBSCR"
    if is_key and (not before or before[-1].opname != "LOAD_CONST" or type(before[-1].argval) not in (str, int)):
        return None
    last: str | int = before.pop().argval if is_key else store.argval
    path = [str(each.argval) for each in itertools.takewhile(_is_attribute, reversed(before))]
    variable = before[-1 - len(path)] if len(path) < len(before) else None
    if variable is None or variable.opname not in _VARIABLES:
        return None
    return Target(str(variable.argval), tuple(reversed(path)), last, is_key)


def _is_attribute(instruction: dis.Instruction) -> bool:
    return instruction.opname == "LOAD_ATTR"


@functools.lru_cache(maxsize=64)
def _words(code: CodeType) -> frozenset[str]:
    nested = (_words(part) for part in code.co_consts if isinstance(part, CodeType))
    texts = (each for each in code.co_consts if isinstance(each, str))
    return frozenset(code.co_names).union(texts, *nested)


def _value(target: Target, frame: FrameType) -> Iterator[object]:
    if target.last is None:
        if target.variable in frame.f_globals:
            yield frame.f_globals[target.variable]
        return
    owner = _variable(target.variable, frame)
    for attribute in target.path:
        owner = _own(owner).get(attribute)
    own: object = owner if target.is_key else _own(owner)
    if is_a(own, dict) and target.last in dict.keys(own):
        yield dict.__getitem__(own, target.last)


def _variable(name: str, frame: FrameType) -> object:
    found = dict(local_values(frame)) if frame.f_code.co_flags & 1 else {}
    return found[name] if name in found else frame.f_globals.get(name)


def _own(value: object) -> dict[str, object]:
    """Returns attributes of an object, including those that torch keeps apart in a module."""
    own = attributes(value)
    for kept in ("_parameters", "_buffers", "_modules"):
        own = own | dict(own.get(kept) or {})
    return own
