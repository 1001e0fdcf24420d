# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds what would be freed with one reference, by counting like the garbage collector, without dropping it.

Among the objects that can be reached from a value, references between them are subtracted from each object's count. An
object with any left is held from outside, by Python or by C++, and so are all that it refers to. The others would die.
No code of the program runs meanwhile.
"""

import gc
import sys
import types
from collections.abc import Sequence

from memtrace._holders.named_values import is_a
from memtrace._holders.storages import Range, is_tensor, storages_of

# These hold the program together. They would not die, so their referents are not looked at.
OUTSIDE = (types.ModuleType, type, types.FunctionType, types.CodeType, types.FrameType, types.MethodType)


def freed_with(torch: types.ModuleType, found: list[object], most: int, holders: Sequence[object] = ()) -> list[Range]:
    """Returns the storages on cards that die with one reference to the object in `found`, whose list holds another.

    References of `holders` are also dropped. Returns nothing if more than `most` objects can be reached. Afterwards
    `found` contains all of them.
    """
    if not gc.is_tracked(found[0]) or is_a(found[0], OUTSIDE):
        return []
    places = _collect_reachable(found, most)
    tensors = [] if places is None else [place for place, each in enumerate(found) if is_tensor(torch, each)]
    if places is None or not tensors:
        return []
    own = next(iter(map(sys.getrefcount, [[]])))  # references that a list and this call have
    held = [count - own for count in map(sys.getrefcount, found)]
    held[0] -= 1
    _subtract_inner(found, places, held)
    if holders:
        _subtract_inner(holders, places, held)
    _mark_reachable_as_held(found, places, held)
    return storages_of(torch, [found[place] for place in tensors if held[place] <= 0])


def _collect_reachable(found: list[object], most: int) -> dict[int, int] | None:
    """Appends to `found` all that can be reached from its first; returns the place of each by id."""
    places = {id(found[0]): 0}
    begin = 0
    while begin < len(found):
        referents = gc.get_referents(*found[begin:])
        begin = len(found)
        for each in referents:
            if id(each) not in places and gc.is_tracked(each) and not is_a(each, OUTSIDE):
                places[id(each)] = len(found)
                found.append(each)
        if len(found) > most:
            return None
    return places


def _subtract_inner(found: Sequence[object], places: dict[int, int], held: list[int]) -> None:
    for each in map(id, gc.get_referents(*found)):
        if each in places:
            held[places[each]] -= 1


def _mark_reachable_as_held(found: list[object], places: dict[int, int], held: list[int]) -> None:
    """Marks all that held objects refer to as held."""
    alive = [place for place, count in enumerate(held) if count > 0]
    while alive:
        for each in map(id, gc.get_referents(found[alive.pop()])):
            inner = places.get(each)
            if inner is not None and held[inner] <= 0:
                held[inner] = 1
                alive.append(inner)
