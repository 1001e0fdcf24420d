# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the program that alone hold memory on a card and are not read again before they get another value.

Looks at an out-of-memory, and in some steps when a backward begins and when the step ends, because nothing runs at the
peak itself. The result is an annotation with a line for each name (profiler/trace/format.md).
"""

import sys
import time
from types import FrameType, ModuleType

from memtrace._core.vocabulary import NAMES_UNREAD
from memtrace._holders.cached_results import cached_results
from memtrace._holders.named_values import local_values
from memtrace._holders.replaced_values import replaced_value
from memtrace._holders.sole_references import freed_with
from memtrace._holders.storages import text_of
from memtrace._holders.unread_names import is_function, names_read_by_statement, unread_names
from memtrace._patching.quiet import quieter
from memtrace._process.session import Session
from memtrace._program.users_frames import all_frames, names_are_recorded, place_of, recorded_file, users_frames

_READ = "\t" + "read"  # read by the statement that runs
_MOST_NAMES = 16
_MOST_OBJECTS = 20_000  # the most that are looked at for a name
_ALL_STEPS = 4  # then only powers of two
_MOST_SECONDS = 3.0  # of processor time, for all looks: a program may run out of memory many times


def watch(torch: ModuleType, session: Session) -> None:
    """Looks at an out-of-memory and in few other steps, so that the cost is negligible."""
    if not names_are_recorded():
        return
    names = _BoundNames(torch, session)
    look = quieter(torch)(names.look_at_thread)

    def look_in_step() -> None:
        step = session.step_number
        if step <= _ALL_STEPS or step & (step - 1) == 0:
            look()

    session.at_failure.append(names.look)
    session.before_backward.append(look_in_step)
    session.after_step.append(lambda _stated: look_in_step())


class _BoundNames:
    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._seconds_left = _MOST_SECONDS
        self._stated = ""

    def look_at_thread(self) -> None:
        self._annotate(users_frames(sys._getframe()))

    def look(self) -> None:
        self._annotate(all_frames(), with_replaced=True)

    def _annotate(self, frames: list[FrameType], *, with_replaced: bool = False) -> None:
        begin = time.thread_time()
        lines: list[tuple[int, str]] = []
        try:
            for place, frame in enumerate(frames):
                if time.thread_time() - begin < self._seconds_left:
                    lines.extend(self._lines(frame))
                    lines.extend(self._replaced(frame, frames[:place]) if with_replaced else ())
            if with_replaced and time.thread_time() - begin < self._seconds_left:
                lines.extend(self._cached())
        finally:  # a signal handler may raise
            self._seconds_left -= time.thread_time() - begin
        lines.sort(reverse=True)
        text = "\n".join([text for _, text in lines[:_MOST_NAMES]])
        if text or self._stated:  # takes back earlier findings
            self._session.core.annotate(NAMES_UNREAD, text)
        self._stated = text

    def _lines(self, frame: FrameType) -> list[tuple[int, str]]:
        """Lists bytes and text of each such name in the frame."""
        code = frame.f_code
        names = unread_names(code, frame.f_lasti, outlive_code=_names_stay_readable(frame))
        values = _values(frame, names)
        read = names_read_by_statement(code, frame.f_lasti) if values else frozenset()
        lines = []
        for name in list(values):
            ranges = freed_with(self._torch, [values.pop(name)], _MOST_OBJECTS)
            if ranges:
                text = f"{name}\t{code.co_name}\t{place_of(frame)}\t{text_of(ranges)}{_READ * (name in read)}"
                lines.append((sum([size for _, _, size in ranges]), text))
        return lines

    def _replaced(self, frame: FrameType, inner: list[FrameType]) -> list[tuple[int, str]]:
        """Like `_lines`, for the value that the running line is about to replace."""
        values = replaced_value(frame, inner)
        names = [name for name, _ in values]
        ranges = freed_with(self._torch, [values.pop()[1]], _MOST_OBJECTS) if values else []
        if not ranges:
            return []
        text = f"{names[0]}\t{frame.f_code.co_name}\t{place_of(frame)}\t{text_of(ranges)}\treplaced"
        return [(sum([size for _, _, size in ranges]), text)]

    def _cached(self) -> list[tuple[int, str]]:
        """Like `_lines`, for the contents of the caches of functions."""
        lines = []
        for function, ranges in cached_results(self._torch):
            code = function.__code__
            place = f"{recorded_file(code)}\t{code.co_firstlineno}"
            text = f"{function.__qualname__}\t{code.co_name}\t{place}\t{text_of(ranges)}\tcached"
            lines.append((sum([size for _, _, size in ranges]), text))
        return lines


def _values(frame: FrameType, names: frozenset[str]) -> dict[str, object]:
    """Returns the values of the names that are bound, each with one reference beside the name's own."""
    if not names:
        return {}
    if is_function(frame.f_code):
        return {name: value for name, value in local_values(frame) if name in names}
    return {name: frame.f_globals[name] for name in names if name in frame.f_globals}


def _names_stay_readable(frame: FrameType) -> bool:
    """True if others may read a module's names after its code has run: all modules but a script may be imported."""
    is_script = frame.f_globals.get("__name__") == "__main__" and "ipykernel_" not in frame.f_code.co_filename
    return not is_function(frame.f_code) and not is_script
