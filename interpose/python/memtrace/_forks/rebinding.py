# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces functions of torch where libraries have bound them before the changes of a run replaced them."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from types import ModuleType

_PLAIN = (type(None), bool, int, float, str, bytes, tuple, list, dict, set)


@contextmanager
def rebinding(owners: Iterable[ModuleType], modules: Iterable[ModuleType]) -> Generator[None, None, None]:
    """Gives `modules` what replaces functions of `owners` meanwhile, as if they were imported only then.

    Only names of the modules themselves are looked at, not what they have made of the functions.
    """
    before = [(owner, dict(vars(owner))) for owner in owners]
    yield
    replaced = {
        id(value): vars(owner)[name]
        for owner, values in before
        for name, value in values.items()
        if vars(owner).get(name, value) is not value
    }
    if not replaced:
        return
    for module in modules:
        for name, value in list(vars(module).items()):
            if not isinstance(value, _PLAIN) and id(value) in replaced:
                vars(module)[name] = replaced[id(value)]
