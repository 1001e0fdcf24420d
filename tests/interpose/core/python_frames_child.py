# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the probe's walk with the interpreter's own stacks. Usage: python_frames_child.py PROBE EXPECTED.

EXPECTED is "1" if walks must do without the interpreter's lock in the end. Runs on any Python from 3.10 on.
"""

import contextlib
import ctypes
import gc
import sys
import threading

_holding = ctypes.PyDLL(sys.argv[1])  # calls that keep the interpreter's lock
_letting_go = ctypes.CDLL(sys.argv[1])  # calls that release it, as torch's operators do
_text = threading.local()
compared = 0


def check() -> int:
    """Checks that the probe's stack from here equals sys._getframe's, for both kinds of call."""
    global compared
    if not hasattr(_text, "buffer"):
        _text.buffer = ctypes.create_string_buffer(1 << 16)
    for library in (_holding, _letting_go):
        lines = []
        frame = sys._getframe()
        count = library.probe_stack(_text.buffer, len(_text.buffer))
        while frame is not None and len(lines) < 128:
            name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
            lines.append(f"{name}:{frame.f_lineno}")
            frame = frame.f_back
        found = _text.buffer.value.decode().splitlines()
        # The innermost frame's line is not compared, because it has changed since.
        assert found[1:] == lines[1:] and count == len(lines), f"{found}\n{lines}"
        assert found[0].split(":")[0] == lines[0].split(":")[0]
        compared += 1
    return 0


def generator():
    check()
    yield check()
    yield from generator_of_one()


def generator_of_one():
    yield check()


async def coroutine():
    return check()


async def awaits():
    return await coroutine()


class Called:
    check()  # a class body

    def __init__(self) -> None:
        check()

    def __getattr__(self, name: str) -> int:
        return check()

    def __lt__(self, other: object) -> bool:
        check()  # through sorted(), which is C
        return False

    def __del__(self) -> None:
        check()


def recurse(depth: int) -> None:
    if depth == 0:
        check()
    else:
        recurse(depth - 1)


def every_kind() -> None:
    check()
    list(generator())
    with contextlib.suppress(StopIteration):
        awaits().send(None)
    called = Called()
    _ = called.something
    sorted([called, Called()])
    [check() for _ in range(2)]
    sorted([2, 1], key=lambda _: check())
    exec("check()", globals())
    recurse(20)
    recurse(200)
    try:
        raise ValueError
    except ValueError:
        check()


for _ in range(3):
    every_kind()
    gc.collect()
threads = [threading.Thread(target=every_kind) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

assert _holding.probe_walks_without_lock() == int(sys.argv[2]), "the layout was not believed, or should not have been"
print(compared)
