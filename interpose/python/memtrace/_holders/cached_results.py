# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Memory that only functools.lru_cache of the program's functions holds: results, and arguments such as `self`."""

import functools
import gc
from types import FunctionType, ModuleType

from memtrace._holders.named_values import attributes, is_a
from memtrace._holders.sole_references import freed_with
from memtrace._holders.storages import Range
from memtrace._program.user_modules import is_library

_MOST_OBJECTS = 20_000  # the most that are looked at for a cache
_WRAPPER: type = type(functools.lru_cache(len))


def cached_results(torch: ModuleType) -> list[tuple[FunctionType, list[Range]]]:
    """Lists the user's functions whose caches alone hold storages on cards, with these storages."""
    found = []
    for wrapper in [each for each in gc.get_objects() if type(each) is _WRAPPER]:
        function: object = attributes(wrapper).get("__wrapped__")
        if is_a(function, FunctionType) and not is_library(function.__code__.co_filename):
            ranges = _held_alone(torch, wrapper)
            if ranges:
                found.append((function, ranges))
    return found


def _held_alone(torch: ModuleType, wrapper: object) -> list[Range]:
    return freed_with(torch, [gc.get_referents(wrapper)], _MOST_OBJECTS, [wrapper])
