# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds names whose value is not read again before they get another one, from a frame's bytecode."""

import bisect
import dis
import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType

_MOST_INSTRUCTIONS = 20_000
_TOUCH = re.compile(r"(LOAD|STORE|DELETE)_(FAST|NAME|GLOBAL)")
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RERAISE", "RAISE_VARARGS")
_JUMPS_ALWAYS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE")
# Functions whose caller may read any name.
_READ_ANY = frozenset({"globals", "locals", "vars", "eval", "exec"})
_ENDS_STATEMENT = ("STORE_", "DELETE_", "POP_TOP", "FOR_ITER", "POP_JUMP", "RETURN_", "RESUME")
_OWN_LOCALS = 2  # CO_NEWLOCALS: a function, not a module


@dataclass
class _Instruction:
    reads: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()  # or deletes them
    next: list[int] = field(default_factory=list)
    ends: bool = False
    live: frozenset[str] = frozenset()  # read from here on before they are set


def is_function(code: CodeType) -> bool:
    """True if names set in `code` are local to a call of it, False if they are those of a module."""
    return bool(code.co_flags & _OWN_LOCALS)


def unread_names(code: CodeType, offset: int, *, outlive_code: bool) -> frozenset[str]:
    """Returns the names that `code` sets and, from `offset` on, does not read until it sets them again.

    Names that nested functions see are left out, and so is everything in code that is too long or that could read names
    in another way. With `outlive_code` others may read bound names after the code has ended.
    """
    names, offsets, live_after, _ = _analysed(code, outlive_code)
    place = bisect.bisect_right(offsets, offset) - 1
    return names - live_after[place] if names and place >= 0 else frozenset()


def passing_names(code: CodeType, offset: int) -> frozenset[str]:
    """Returns the names that `code` sets and that no loop around the instruction at `offset` hands on.

    A loop hands on a name to its next round if it reads the name before it sets it. The same names are left out as by
    `unread_names`.
    """
    names, _, _, loops = _analysed(code, False)
    around = (handed_on for first, last, handed_on in loops if first <= offset <= last)
    return names.difference(*around)


def names_read_by_statement(code: CodeType, offset: int) -> frozenset[str]:
    """Returns the names that the statement around the instruction at `offset` has read before it, as far as known.

    It goes back to where the previous statement has left an empty stack, or to the beginning of the line.
    """
    before = [each for each in dis.get_instructions(code) if each.offset < offset]
    line = _line_at(code, offset)
    names: set[str] = set()
    in_statement = True
    for each in reversed(before):
        in_statement = in_statement and not each.opname.startswith(_ENDS_STATEMENT)
        if not in_statement and _line_at(code, each.offset) != line:
            break
        names.update(name for kind, name in _touches(each, code) if kind == "LOAD")
    return frozenset(names)


def _line_at(code: CodeType, offset: int) -> int | None:
    return max(((start, line) for start, line in dis.findlinestarts(code) if start <= offset), default=(0, None))[1]


_Loops = list[tuple[int, int, frozenset[str]]]  # first and last offset, names read from the first on
_Analysed = tuple[frozenset[str], list[int], list[frozenset[str]], _Loops]


@functools.lru_cache(maxsize=64)
def _analysed(code: CodeType, outlive_code: bool) -> _Analysed:
    """Returns the names, the offsets of all instructions, the names that may be read after each, and the loops."""
    names = _own_names(code) if len(code.co_code) <= 2 * _MOST_INSTRUCTIONS else frozenset()
    if not names:
        return names, [], [], []
    at_end = names if outlive_code else frozenset()
    offsets, instructions = _instructions(code)
    _find_live(instructions, at_end)
    loops = [
        (offsets[to], offsets[place], instructions[to].live)
        for place, each in enumerate(instructions)
        for to in each.next
        if to < place
    ]
    return names, offsets, [_after(instructions, each, at_end) for each in instructions], loops


def _own_names(code: CodeType) -> frozenset[str]:
    nested = {name for part in _nested(code) for name in (*part.co_names, *part.co_freevars)}
    if any(_reads_any(part) for part in (code, *_nested(code))) or _has_unknown_handlers(code):
        return frozenset()
    if is_function(code):
        return frozenset(code.co_varnames) - set(code.co_cellvars)
    stored = {name for each in dis.get_instructions(code) for kind, name in _touches(each, code) if kind == "STORE"}
    return frozenset(stored - nested)


def _reads_any(code: CodeType) -> bool:
    """True if it calls one of those functions; a method may have the same name, such as model.eval()."""
    if _READ_ANY.isdisjoint(code.co_names):
        return False
    loads = (each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    return not _READ_ANY.isdisjoint(loads)


def _has_unknown_handlers(code: CodeType) -> bool:
    """True before Python 3.11, whose code does not say which instructions a handler covers."""
    return sys.version_info < (3, 11) and "SETUP_" in {each.opname[:6] for each in dis.get_instructions(code)}


def _nested(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _nested(part)


def _touches(instruction: dis.Instruction, code: CodeType) -> Iterator[tuple[str, str]]:
    """Yields the effects of an instruction on names of the code's own kind; it may have two."""
    wanted = ("FAST",) if is_function(code) else ("NAME", "GLOBAL")
    value = instruction.argval
    names = value if isinstance(value, tuple) else (value,)
    for (kind, place), name in zip(_TOUCH.findall(instruction.opname), names, strict=False):
        if place in wanted:
            yield kind, name
    if instruction.opname == "LOAD_FROM_DICT_OR_GLOBALS":
        yield "LOAD", str(value)


def _instructions(code: CodeType) -> tuple[list[int], list[_Instruction]]:
    listed = list(dis.get_instructions(code))
    places = {each.offset: place for place, each in enumerate(listed)}
    found = [_instruction(each, place, places, code) for place, each in enumerate(listed)]
    for entry in getattr(dis.Bytecode(code), "exception_entries", ()):
        for each, instruction in zip(listed, found, strict=True):
            if entry.start <= each.offset < entry.end and entry.target in places:
                instruction.next.append(places[entry.target])
    return [each.offset for each in listed], found


def _instruction(each: dis.Instruction, place: int, places: dict[int, int], code: CodeType) -> _Instruction:
    found = _Instruction(ends=each.opname in _ENDS)
    for kind, name in _touches(each, code):
        if kind == "LOAD" and name not in found.sets:
            found.reads |= {name}
        if kind != "LOAD":
            found.sets |= {name}
    if not found.ends and each.opname not in _JUMPS_ALWAYS and place + 1 < len(places):
        found.next.append(place + 1)
    if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
        found.next.append(places[each.argval])
    return found


def _find_live(instructions: list[_Instruction], at_end: frozenset[str]) -> None:
    changed = True
    while changed:
        changed = False
        for instruction in reversed(instructions):
            live = instruction.reads | (_after(instructions, instruction, at_end) - instruction.sets)
            changed = changed or live != instruction.live
            instruction.live = live


def _after(instructions: list[_Instruction], instruction: _Instruction, at_end: frozenset[str]) -> frozenset[str]:
    live = at_end if instruction.ends else frozenset()
    return live.union(*(instructions[place].live for place in instruction.next))
