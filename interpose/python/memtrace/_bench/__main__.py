# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m memtrace._bench ORDER`: tries one allocator on the simulated card, or on the machine's GPU.

ORDER is JSON: an `Order`. Each line of stdin is JSON: a `Turn`; each is played in a forked process, so that torch is
imported once and every play has a new card. Each line of stdout is the answer, JSON of interpose/bench/bench_library.cc
or a fault: {"fault": NAME, "detail": TEXT}.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO, TypedDict

from memtrace._bench.tried import Tried
from memtrace._patching.signal_exceptions import raise_if_from_outside

_PR_SET_PDEATHSIG = 1


class Order(TypedDict):
    """Names what is tried: an allocator or a library, its functions, and the file of the requests."""

    allocator: str
    allocate: str
    release: str
    requests: str
    gpu: bool  # on the machine's own


class Turn(TypedDict, total=False):
    """One play on a card of `card` bytes, of at most `limit` seconds.

    With `threads`, it is timed and takes about `seconds`.
    """

    card: int
    limit: float
    stops: bool
    checks: bool
    threads: int
    seconds: float


def main() -> None:
    """Prints {} when it is ready, or a fault; then answers turns until stdin ends."""
    _end_with_parent()
    # The tried library may print, so the answers have a file of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    order: Order = json.loads(sys.argv[1])
    try:
        tried = Tried.load(order["allocator"], order["allocate"], order["release"], order["requests"], order["gpu"])
        _say(answers, {})
    except Exception as error:
        raise_if_from_outside(error)
        _say(answers, {"fault": "cannot_start", "detail": str(error)})
        return
    for line in sys.stdin:
        answers.write(_answer(tried, json.loads(line)) + "\n")
        answers.flush()


def _say(answers: TextIO, what: dict[str, str]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


def _end_with_parent() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _answer(tried: Tried, turn: Turn) -> str:
    """Plays a turn in a forked process and returns its answer in one line."""
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            _play_and_exit(tried, turn, file.fileno())
        status = _wait(child, turn["limit"])
        if status is None:
            return json.dumps({"fault": "hung", "detail": f"{turn['limit']:g}"})
        if os.WIFSIGNALED(status):
            return json.dumps({"fault": "crashed", "detail": signal.Signals(os.WTERMSIG(status)).name})
        file.seek(0)
        answer = file.read().decode(errors="replace")
        return answer or json.dumps({"fault": "ended", "detail": str(os.WEXITSTATUS(status))})


def _play_and_exit(tried: Tried, turn: Turn, file: int) -> None:
    status = 1
    try:
        _end_with_parent()
        if "threads" in turn:
            answer = tried.time(turn["card"], turn["threads"], turn["seconds"])
        else:
            answer = tried.play(turn["card"], turn["stops"], turn["checks"])
        Path(f"/proc/self/fd/{file}").write_text(answer)
        status = 0
    except Exception as error:
        Path(f"/proc/self/fd/{file}").write_text(json.dumps({"fault": "failed", "detail": str(error)}))
        status = 0
    finally:
        os._exit(status)


def _wait(child: int, limit: float) -> int | None:
    """Returns how the process ended; ends it after `limit` seconds and returns None."""
    end = time.monotonic() + limit
    pause = 0.001
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    main()
