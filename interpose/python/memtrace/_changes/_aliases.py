# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors that stand for copies, and a check that neither they nor their originals were written meanwhile."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._changes._program_line import program_line
from memtrace._process.identity_map import IdentityMap

if TYPE_CHECKING:
    from torch import Tensor


@dataclass
class _Copy:
    of: weakref.ref[Tensor]  # a parameter
    storage: int  # the address of the object of its memory when it was copied
    version: int  # its version then: torch counts writes in place
    place: str  # file:line


class Aliases:
    """Follows them where torch makes one tensor from another: `detach`, `data`, `Parameter(...)`."""

    def __init__(self, torch: ModuleType, wrong: Callable[[str], object]) -> None:
        """Calls `wrong` with the place of the copy, by the next `check` at the latest."""
        self._torch = torch
        self._wrong = wrong
        self._alive: dict[int, tuple[weakref.ref[Tensor], _Copy]] = {}  # by id
        self._sources: IdentityMap[Tensor, bool] = IdentityMap()  # parameters that were ever copied

    def add(self, alias: Tensor, parameter: Tensor) -> None:
        """Notes that `alias` stands for a copy of `parameter` that the program makes now."""
        if self._sources.get(parameter) is None:
            if not self._sources.items():
                self._follow()
            self._sources.set(parameter, True)
        storage = parameter.untyped_storage()._cdata
        self._track(alias, _Copy(weakref.ref(parameter), storage, parameter._version, program_line()))

    def _track(self, alias: Tensor, copy: _Copy) -> None:
        key, alive = id(alias), self._alive

        def ended(reference: weakref.ref[Tensor]) -> None:
            entry = alive.get(key)
            if entry is not None and entry[0] is reference:
                del alive[key]
            self._check(copy)

        alive[key] = weakref.ref(alias, ended), copy

    def check(self) -> None:
        """Checks all that are alive; the others were checked when they ended."""
        for _alias, copy in list(self._alive.values()):
            self._check(copy)

    def _check(self, copy: _Copy) -> None:
        parameter = copy.of()
        if parameter is None or parameter.untyped_storage()._cdata != copy.storage:
            return  # it is gone, or has other memory
        if parameter._version != copy.version:
            self._wrong(copy.place)

    def _copy(self, tensor: Tensor | None) -> _Copy | None:
        alias, copy = self._alive.get(id(tensor), (None, None))
        return copy if alias is not None and alias() is tensor else None

    def _follow(self) -> None:
        tensor_class, parameter_class = self._torch.Tensor, self._torch.nn.Parameter
        tensor_class.detach = self._following(tensor_class.detach)
        # Writes through torch's own `data` are not counted, those through `detach` are.
        data, detach = tensor_class.data, tensor_class.detach

        def get(tensor: Tensor) -> Tensor:
            is_shared = self._copy(tensor) is not None or self._sources.get(tensor) is not None
            return detach(tensor) if is_shared else data.__get__(tensor)

        tensor_class.data = property(get, lambda tensor, value: data.__set__(tensor, value))
        parameter_class.__new__ = self._making(parameter_class.__new__)

    def _making(self, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        @functools.wraps(original)
        def make(cls: type[Tensor], data: Tensor | None = None, *args: object, **kwargs: object) -> Tensor:
            return self._derived(original(cls, data, *args, **kwargs), data)

        return make

    def _following(self, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        @functools.wraps(original)
        def follow(tensor: Tensor, *args: object, **kwargs: object) -> Tensor:
            return self._derived(original(tensor, *args, **kwargs), tensor)

        return follow

    def _derived(self, made: Tensor, source: Tensor | None) -> Tensor:
        copy = self._copy(source)
        if copy is not None:
            self._track(made, copy)
        return made
