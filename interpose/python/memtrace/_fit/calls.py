# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Calls in the program's files at which a trial changes something."""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

from memtrace._patching import patches, training_arguments
from memtrace._patching.import_watch import when_imported
from memtrace._patching.library_parts import part_of
from memtrace._process.identity_map import IdentityMap
from memtrace._program.users_frames import users_frames


@dataclass(frozen=True)
class Call:
    """A call: its lines from 1, its columns in bytes from 0; the columns are None if only the line is known."""

    file: str
    line: int
    end_line: int
    column: int | None
    end_column: int | None


def call_of_program() -> Call | None:
    """Returns the call that the innermost frame of the program's own code is making.

    Code without a file is passed over: the constructors that `dataclass` writes are such.
    """
    for frame in users_frames(sys._getframe(1)):
        if not frame.f_code.co_filename.startswith("<"):
            return _call_in(frame)
    return None


def _call_in(frame: FrameType) -> Call:
    file, line = os.path.abspath(frame.f_code.co_filename), frame.f_lineno
    positions = getattr(frame.f_code, "co_positions", None)  # from Python 3.11 on
    if positions is None:
        return Call(file, line, line, None, None)
    begin, end, column, end_column = next(islice(positions(), frame.f_lasti // 2, None), (line, line, None, None))
    return Call(file, begin or line, end or line, column, end_column)


def watch_training_arguments(made: Callable[[Call, object], object]) -> None:
    """Calls `made` with each call of the program that makes transformers' TrainingArguments, and with these."""

    def note(arguments: object) -> None:
        call = call_of_program()
        if call is not None:
            made(call, arguments)

    training_arguments.watch(after=note)


class ConstructorCalls:
    """The calls of the program that construct objects of some classes. Keeps none of the objects alive."""

    def __init__(self) -> None:
        """Notes nothing by itself."""
        self._calls: IdentityMap[object, Call] = IdentityMap()
        self._objects: Counter[Call] = Counter()

    def watch(self, module: str, name: str) -> None:
        """Notes the calls that construct objects of the class `name` of the module, once it is imported."""
        when_imported(module, lambda imported: self._watch(imported, name))

    def call_of(self, made: object) -> Call | None:
        """Returns the call that constructed the object; None if it is not known."""
        return self._calls.get(made)

    def objects(self, call: Call) -> int:
        """Returns how many objects the call has constructed."""
        return self._objects[call]

    def _watch(self, module: ModuleType, name: str) -> None:
        found = part_of(module, f"{name}.__init__")
        if found is None:
            return
        original: Callable[..., None] = found.original

        @functools.wraps(original)
        def construct(made: Any, *args: object, **kwargs: object) -> None:
            original(made, *args, **kwargs)
            call = call_of_program()
            if call is not None and self._calls.get(made) is None:
                self._calls.set(made, call)
                self._objects[call] += 1

        patches.put(
            found.owner,
            "__init__",
            construct,
            "torch.utils.data.DataLoader, lightning.pytorch.Trainer.__init__: notes the line, in a trial of fit",
        )
