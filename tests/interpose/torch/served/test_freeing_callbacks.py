# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A library with a registered c10::FreeMemoryCallback is asked to free memory before a request fails."""

import pytest
from support.programs import ALLOCATOR_PROBE, on_card

# A card of 2 GiB cannot hold both the library's memory and the program's request.
PROGRAM = f"""
import ctypes, json, torch
library = ctypes.CDLL("{ALLOCATOR_PROBE}")
library.what_happened.restype = ctypes.c_char_p
torch.cuda.init()
library.register_freeing_callback()

def ask(mib):
    try:
        return torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        return None

def told():
    return library.what_happened().decode().split("; ")[:-1]

def keep(mib):
    library.keep_memory(ctypes.c_size_t(mib << 20))

answers = {{}}
keep(900)
served = ask(1000)
answers["a request that what was given up lets succeed"] = [served is not None, told()]
answers["in use"] = torch.cuda.memory_allocated() >> 20
del served
keep(900)
answers["a request that fails all the same"] = [ask(3000) is not None, told()]
keep(100)
cached = ask(300)
del cached
keep_before = told()
again = ask(300)
answers["a request that a cached block serves"] = [again is not None, told() == keep_before]
print(json.dumps(answers))
"""


def answers_of(allocator, folder):
    return on_card(PROGRAM, folder, card="2GiB", options=("--allocator", allocator)).printed()


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return answers_of("memtrace", tmp_path_factory.mktemp("ours"))


def test_memory_freed_by_a_callback_lets_the_request_succeed(ours):
    assert ours["a request that what was given up lets succeed"] == [True, ["gave up"]]
    assert ours["in use"] == 1000


def test_callback_runs_before_out_of_memory_is_reported(ours):
    assert ours["a request that fails all the same"] == [False, ["gave up", "out of memory"]]


def test_request_served_from_the_cache_calls_no_callback(ours):
    assert ours["a request that a cached block serves"] == [True, True]


def test_torchs_own_allocator_calls_callbacks_alike(ours, tmp_path):
    assert answers_of("native", tmp_path) == ours
