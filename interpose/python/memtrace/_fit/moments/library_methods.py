# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Methods of other libraries by which moments are made or seen."""

from __future__ import annotations

from types import ModuleType

from memtrace._fit.gaps import note_missing
from memtrace._patching.library_parts import Part, part_of
from memtrace._text.messages import translated


def method_of(module: ModuleType, name: str, moment: str) -> Part | None:
    """Returns the method "Class.name" of the module; None if the installed release has none.

    A gap of the moment then says that this is why it was not seen. Nothing is named if the program has no such moment.
    """
    found = part_of(module, name)
    if found is None:
        note_missing(moment, translated("This $0 has no $1.", module.__name__.partition(".")[0], name))
    return found
