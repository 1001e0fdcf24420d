# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Memory on the cards that the program's variables reach at an out-of-memory: "backend.cache", a dict of 23.

Each storage counts for the first variable that reaches it: variables of modules come before those of functions. Graphs
of autograd belong to no variable, because Python's collector does not see into them.
"""

import functools
import gc
import time
from collections import deque
from collections.abc import Iterator, Sized
from types import ModuleType

from memtrace._core.vocabulary import VARIABLES_REACH
from memtrace._holders.named_values import SEQUENCES, Named, attributes, is_a, parts_of, variables
from memtrace._holders.sole_references import OUTSIDE
from memtrace._holders.storages import Range, is_tensor, others_held, range_of
from memtrace._process.session import Session
from memtrace._program.users_frames import names_are_recorded

_MOST_SECONDS = 2.0  # of processor time, for all looks: a program may run out of memory many times
_MOST_OBJECTS = 300_000  # the most that one look sees
_PIECE = 1000  # objects, between two looks at the clock
_DEEPEST = 2  # levels of attributes that are told apart
_MOST_TOLD = 16
_FEWEST_BYTES = 1 << 20
_CACHED: type = functools._lru_cache_wrapper
_CONTAINERS: tuple[type[Sized], ...] = (dict, *SEQUENCES)


def watch(torch: ModuleType, session: Session) -> None:
    """Looks at every out-of-memory until the looks have taken too long."""
    if names_are_recorded():
        session.at_failure.append(_Variables(torch, session).look)


class _TooMuchError(Exception):
    pass


class _Variables:
    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._seconds_left = _MOST_SECONDS

    def look(self) -> None:
        begin = time.thread_time()
        known: dict[int, object] = {}
        lines: list[tuple[int, str]] = []
        try:
            if self._seconds_left > 0:
                lines = self._lines(known, begin + self._seconds_left)
        except _TooMuchError:
            lines = []  # a part of them would not show which variable comes first
        finally:  # a signal handler may raise
            known.clear()
            self._seconds_left -= time.thread_time() - begin
        lines.sort(reverse=True)
        self._session.core.annotate(VARIABLES_REACH, "\n".join([text for _, text in lines[:_MOST_TOLD]]))

    def _lines(self, known: dict[int, object], until: float) -> list[tuple[int, str]]:
        """Lists bytes and text of each variable."""
        apart = _Apart(self._torch, variables())
        opened = {id(each.value): each.value for each in apart.objects}
        known.update(opened)  # a holder of such an object does not hold what its attributes are stated to hold
        storages: set[Range] = set()
        lines = []
        for named in apart.in_order():
            if id(named.value) in opened:
                known.pop(id(named.value), None)
            found = _reached(self._torch, named.value, known, until) - storages
            storages |= found
            size = sum([each[2] for each in found])
            if size >= _FEWEST_BYTES:
                lines.append((size, _text(named, found)))
        return lines


class _Apart:
    """Orders variables: models, optimizers, containers and tensors; then objects that have them; then classes.

    An attribute comes before the object that has it, and the cache of a method last, because it also holds the objects
    whose methods were called.
    """

    def __init__(self, torch: ModuleType, given: Iterator[Named]) -> None:
        self.objects: list[Named] = []
        self._wholes: list[Named] = []
        self._classes: list[Named] = []
        self._module_class: type = torch.nn.Module
        self._whole_classes = (*_CONTAINERS, _CACHED, torch.Tensor, torch.optim.Optimizer)
        self._known: set[int] = set()
        waiting = deque((named, 0) for named in given)
        while waiting:
            named, depth = waiting.popleft()
            if id(named.value) not in self._known:
                self._known.add(id(named.value))
                waiting.extend((part, depth + 1) for part in self._parts(named, depth))

    def in_order(self) -> list[Named]:
        return [*self._wholes, *self.objects, *(own for each in self._classes for own in _of_class(each))]

    def _parts(self, named: Named, depth: int) -> list[Named]:
        """Puts it in its place; returns the parts to look at next."""
        value = named.value
        if is_a(value, type):
            self._classes += [named] if depth == 0 else []
        elif is_a(value, self._module_class):
            self._wholes += [part for part in parts_of(named, self._module_class) if is_a(part.value, _CONTAINERS)]
            self._wholes.append(named)
        elif is_a(value, self._whole_classes):
            self._wholes.append(named)
        elif depth < _DEEPEST and not is_a(value, ModuleType):
            if attributes(value) and not is_a(value, OUTSIDE):
                self.objects.append(named)
            return list(parts_of(named, self._module_class))
        return []


def _of_class(named: Named) -> Iterator[Named]:
    """Yields attributes of a class of the program, such as the functools.lru_cache of its methods."""
    own = dict(type.__dict__["__dict__"].__get__(named.value))
    if own.get("__module__") == "__main__" or f"{own.get('__module__')}.py".endswith(named.place):
        for key, value in own.items():
            if not key.startswith("__"):
                yield Named(value, f"{named.name}.{key}", named.place)


def _reached(torch: ModuleType, value: object, known: dict[int, object], until: float) -> set[Range]:
    """Returns the storages of tensors that `value` leads to and that were not reached before, which `known` records."""
    storages: set[Range] = set()
    waiting = [value]
    while waiting:
        piece = [each for each in waiting[-_PIECE:] if id(each) not in known and not is_a(each, OUTSIDE)]
        del waiting[-_PIECE:]
        known.update((id(each), each) for each in piece)
        if time.thread_time() > until or len(known) > _MOST_OBJECTS:
            raise _TooMuchError
        for each in piece:
            if is_tensor(torch, each):
                waiting.extend(others_held(torch._C.TensorBase, each))
                found = range_of(torch, each)
                storages.update([found] if found is not None else [])
        waiting.extend(filter(gc.is_tracked, gc.get_referents(*piece)))
    return storages


def _text(named: Named, found: set[Range]) -> str:
    """Returns name, place, class, number of elements (0: not a container), and bytes by card, separated by tabs."""
    value = named.value
    count = next((kind.__len__(value) for kind in _CONTAINERS if is_a(value, kind)), 0)
    by_card: dict[int, int] = {}
    for card, _, size in found:
        by_card[card] = by_card.get(card, 0) + size
    sizes = " ".join([f"{card}:{size}" for card, size in sorted(by_card.items())])
    kind = "lru_cache" if is_a(value, _CACHED) else type(value).__name__
    return f"{named.name}\t{named.place}\t{kind}\t{count}\t{sizes}"
