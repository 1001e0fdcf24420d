# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The functions that are replaced, as they were, and how they are replaced."""

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator


class _Thread(threading.local):
    is_inside = False  # one of ours, which calls those of Python


_thread = _Thread()


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Within an answer, for code of the program's: its calls are answered, too."""
    was_inside, _thread.is_inside = _thread.is_inside, False
    try:
        yield
    finally:
        _thread.is_inside = was_inside


def replace(holder: object, name: str, answer: Callable[..., object], show: Callable[[str], str]) -> None:
    """Has `answer(original, ...)` answer calls of `holder.name`, but not those of our own; `show` names its errors."""
    original = getattr(holder, name, None)
    if original is not None:
        setattr(holder, name, answering(original, answer, show))


def answering(
    original: Callable[..., object], answer: Callable[..., object], show: Callable[[str], str]
) -> Callable[..., object]:
    """Gives what stands in the place of `original`."""

    @functools.wraps(original)
    def call(*args: object, **kwargs: object) -> object:
        if _thread.is_inside:
            return original(*args, **kwargs)
        _thread.is_inside = True
        try:
            return answer(original, *args, **kwargs)
        except OSError as error:
            for which in ("filename", "filename2"):
                if isinstance(getattr(error, which), (str, bytes)):
                    setattr(error, which, show(os.fsdecode(getattr(error, which))))
            raise
        finally:
            _thread.is_inside = False

    return call
