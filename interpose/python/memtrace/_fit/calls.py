# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Calls in the program's files at which a trial changes something."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from types import FrameType, ModuleType

from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
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

    def watch(module: ModuleType) -> None:
        original = getattr(getattr(module, "TrainingArguments", None), "__post_init__", None)
        if original is None:
            return

        @functools.wraps(original)
        def post_init(arguments: object, *args: object, **kwargs: object) -> None:
            original(arguments, *args, **kwargs)
            call = call_of_program()
            if call is not None:
                made(call, arguments)

        patches.put(
            module.TrainingArguments,
            "__post_init__",
            post_init,
            "transformers.TrainingArguments.__post_init__: notes the line that makes them, in a trial of fit",
        )

    when_imported("transformers.training_args", watch)
