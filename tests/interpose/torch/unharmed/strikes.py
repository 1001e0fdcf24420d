# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Interrupts memtrace's own Python at its first event, its second ..., until there are no more; counts what arrives.

An event is a call or a return that the interpreter reports to a profiler; a signal handler could also run there.
Prints {"work": [struck, arrived]} by the program's action and by the kind of strike. usage: strikes.py ALL EACH. It
strikes at each of the first ALL events and then at every EACH-th: each strike needs a whole run of the action. EACH is
a prime, so that loops of the hooks are struck at different places.
"""

import ctypes
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

import memtrace
import torch

PACKAGE = os.path.dirname(memtrace.__file__) + os.sep


class TimeLimitError(Exception):
    pass


def handler(number: int, frame: FrameType | None) -> None:
    raise TimeLimitError


def handler_that_goes_away(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    raise TimeoutError("of a class that our own code might raise, too")


class HandlerObject:
    def __call__(self, *_arguments: object) -> None:
        raise OSError("as above")


def by_signal(set_handler: Callable[..., object]) -> Callable[[], None]:
    def strike() -> None:
        signal.signal(signal.SIGALRM, set_handler)
        signal.raise_signal(signal.SIGALRM)

    return strike


def from_another_thread() -> None:
    me = ctypes.c_ulong(threading.get_ident())
    ctypes.pythonapi.PyThreadState_SetAsyncExc(me, ctypes.py_object(TimeLimitError))


ALL = int(sys.argv[1])
EACH = int(sys.argv[2])


class Watch:
    """Counts events of our Python and calls `strike` at the event `number`, from 1."""

    def __init__(self, strike: Callable[[], None], number: int) -> None:
        self.left = number
        self._strike = strike

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            self.left -= 1
            if self.left == 0:
                sys.setprofile(None)
                self._strike()


def count_arrivals(work: Callable[[], object], strike: Callable[[], None]) -> tuple[int, int]:
    """Returns how often `strike` was called, each time at another event, and how many of its exceptions arrived.

    Strikes at each of the first ALL events, then at every EACH-th: each strike needs a whole run of `work`.
    """
    struck = arrived = 0
    number = 1
    while True:
        watch = Watch(strike, number)
        sys.setprofile(watch)
        try:
            work()
            idle()
        except (TimeLimitError, TimeoutError, OSError):
            arrived += 1
        finally:
            sys.setprofile(None)
        if watch.left > 0:
            return struck, arrived
        struck += 1
        number += 1 if number < ALL else EACH


def idle() -> None:
    """Gives the interpreter a moment to raise pending exceptions."""
    for _ in range(3):
        pass


class Training:
    def __init__(self) -> None:
        self.model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self) -> None:
        self.model(torch.zeros(4, 8, device="cuda")).sum().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def evaluate(self) -> None:
        with torch.no_grad(), memtrace.tag("evaluation"):
            self.model(torch.zeros(4, 8, device="cuda"))


def make_and_drop() -> None:
    """Parameters and modules end: memtrace holds weak references to them."""
    Training().evaluate()


def run_out_of_memory() -> None:
    try:
        torch.empty(1 << 40, device="cuda")
    except torch.OutOfMemoryError:
        idle()


def recompute() -> None:
    training = Training()
    inputs = torch.zeros(4, 8, device="cuda", requires_grad=True)
    for is_reentrant in (False, True):
        torch.utils.checkpoint.checkpoint(training.model, inputs, use_reentrant=is_reentrant).sum().backward()


def main() -> None:
    # A kept exception would keep its frames alive: torch's checkpoint leaves its hooks only when its frame ends.
    gc.disable()
    training = Training()
    training.step()
    plain = by_signal(handler)
    counts = {
        "step": count_arrivals(training.step, plain),
        "evaluation": count_arrivals(training.evaluate, plain),
        "objects that end": count_arrivals(make_and_drop, plain),
        "recomputation": count_arrivals(recompute, plain),
        "out of memory": count_arrivals(run_out_of_memory, plain),
        "step, a handler that goes away": count_arrivals(training.step, by_signal(handler_that_goes_away)),
        "step, an object as the handler": count_arrivals(training.step, by_signal(HandlerObject())),
        "step, from another thread": count_arrivals(training.step, from_another_thread),
    }
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
