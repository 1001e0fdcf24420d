# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Retry patterns that fail on the card without `memtrace.release_failed_attempt`, and succeed with it."""

import pytest
from support.json_object import JsonObject
from support.programs import MIB, Finished, on_card

CARD = "1000MiB,context=480MiB"
# The first attempt of each pattern fails and leaves 448 MiB; the next one needs 256 MiB of the 520 MiB. A pattern gets
# `release`, which it calls before its next attempt: the call, or a function that does nothing.
PROGRAM = """
import asyncio, code, gc, json, sys, threading
import memtrace
import torch

def attempt(rows):
    x = torch.ones(rows, 1024, 1024, device="cuda")
    y = x + 1
    return (y * 2).sum().item()

def in_the_handler(release):
    try:
        attempt(56)
    except torch.OutOfMemoryError:
        release()
        attempt(40)

def in_a_loop_that_keeps_its_errors(release):
    errors = []
    for rows in (56, 40):
        release()
        try:
            return attempt(rows)
        except torch.OutOfMemoryError as error:
            errors.append(error)
    raise errors[-1]

def in_a_function_that_keeps_its_own_error(release):
    # The frame and its error are a cycle, which lives until the next garbage collection.
    def logged(rows):
        try:
            x = torch.ones(rows, 1024, 1024, device="cuda")
            return attempt(rows)
        except torch.OutOfMemoryError as error:
            latest = error
            return None
    if logged(40) is None:
        release()
        attempt(40)

def because_of_another_error(release):
    errors = []
    try:
        try:
            attempt(56)
        except torch.OutOfMemoryError as error:
            raise ValueError("the batch is too large") from error
    except ValueError as error:
        errors.append(error)
    release()
    attempt(40)

def in_a_thread(release):
    results = []
    def work():
        try:
            attempt(56)
        except torch.OutOfMemoryError as error:
            results.append(error)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    release()
    attempt(40)

def in_cells(release):
    # Python's own prompt keeps the exception of a cell, as notebooks do.
    prompt = code.InteractiveInterpreter({"attempt": attempt, "release": release, "passed": []})
    prompt.write = lambda text: None
    for cell in ("attempt(56)", "release()\\nattempt(40)\\npassed.append(True)"):
        prompt.runcode(compile(cell, "<cell>", "exec"))
    if not prompt.locals["passed"]:
        raise torch.OutOfMemoryError("in the second cell")

def nothing():
    pass

def succeeds(pattern, release):
    try:
        pattern(release)
        return True
    except torch.OutOfMemoryError:
        return False
    finally:
        sys.last_value = sys.last_exc = sys.last_traceback = None

PATTERNS = [in_the_handler, in_a_loop_that_keeps_its_errors, in_a_function_that_keeps_its_own_error,
            because_of_another_error, in_a_thread, in_cells]
gc.disable()  # so that no collection comes by chance
before = memtrace.release_failed_attempt()
found = {"before": before, "patterns": {}}
for pattern in PATTERNS:
    each = {}
    for name, release in (("without", nothing), ("with", memtrace.release_failed_attempt)):
        each[name] = succeeds(pattern, release)
        gc.collect()
        assert torch.cuda.memory_allocated() == 0
    found["patterns"][pattern.__name__] = each

# The call must leave these alone.
def waits():
    kept = torch.ones(8, 1024, 1024, device="cuda")
    try:
        attempt(56)
    except torch.OutOfMemoryError as error:
        yield error
    yield kept.numel()

generator = waits()
error = next(generator)
found["freed"] = memtrace.release_failed_attempt()
found["of_generator"] = next(generator)
found["lines"] = len(__import__("traceback").extract_tb(error.__traceback__))
del error

reached, goes_on = threading.Event(), threading.Event()
def handles():
    try:
        attempt(56)
    except torch.OutOfMemoryError as error:
        reached.set()
        goes_on.wait(60)
        frame = error.__traceback__.tb_next.tb_frame
        found["of_other_thread"] = len(frame.f_locals["x"])
thread = threading.Thread(target=handles)
thread.start()
reached.wait(60)
found["freed_of_other_thread"] = memtrace.release_failed_attempt()
goes_on.set()
thread.join()
gc.collect()

weight = torch.ones(1, device="cuda", requires_grad=True)
def step():
    loss = weight * torch.ones(32, 1024, 1024, device="cuda")
    try:
        attempt(56)
    except torch.OutOfMemoryError:
        memtrace.release_failed_attempt()
step()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return on_card(PROGRAM, tmp_path_factory.mktemp("attempts"), card=CARD)


@pytest.fixture(scope="module")
def found(finished: Finished) -> JsonObject:
    printed: JsonObject = finished.printed()
    return printed


def test_each_pattern_fails_without_the_call_and_succeeds_with_it(found: JsonObject) -> None:
    assert len(found["patterns"]) == 6
    assert [name for name, each in found["patterns"].items() if each != {"without": False, "with": True}] == []


def test_without_a_failed_attempt_nothing_is_freed(found: JsonObject) -> None:
    assert found["before"] == 0


def test_waiting_generator_keeps_its_variables_and_the_exception_its_lines(found: JsonObject) -> None:
    assert found["freed"] == 448 * MIB
    assert found["of_generator"] == 8 * MIB
    assert found["lines"] == 2


def test_exception_that_another_thread_handles_is_left_alone(found: JsonObject) -> None:
    assert (found["freed_of_other_thread"], found["of_other_thread"]) == (0, 56)


def test_running_function_with_a_graph_is_named(finished: Finished) -> None:
    [line] = [line for line in finished.err.splitlines() if "has a graph of autograd" in line]
    assert line.startswith("memtrace: 'loss' (train.py:")
