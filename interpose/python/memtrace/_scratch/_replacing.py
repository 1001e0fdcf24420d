# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps the original functions, and replaces them."""

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator


class _Thread(threading.local):
    is_inside = False  # true within an answer, which calls the originals


_thread = _Thread()


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Lets calls by the program's code within an answer be answered as well."""
    was_inside, _thread.is_inside = _thread.is_inside, False
    try:
        yield
    finally:
        _thread.is_inside = was_inside


def replace(holder: object, name: str, answer: Callable[..., object], show: Callable[[str], str]) -> None:
    """Makes `answer(original, ...)` answer calls of `holder.name`, except our own; `show` names the files in errors."""
    original = getattr(holder, name, None)
    if original is not None:
        setattr(holder, name, answering(original, answer, show))


def answering(
    original: Callable[..., object], answer: Callable[..., object], show: Callable[[str], str]
) -> Callable[..., object]:
    """Returns the replacement of `original`."""

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
