# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The places where a trial of fit changed the program, as its trace says."""

import json
from dataclasses import dataclass
from pathlib import Path

from support.events import annotations


@dataclass
class Changed:
    """A hook of MEMTRACE_FIT_CHANGES in a run."""

    places: int  # where it was made
    of: int  # where it could be
    target: str  # the class of the first place
    first: str  # a path in the model, or file:line


def changed(trace: Path, hook: str) -> Changed | None:
    """Returns nothing if the run did not have the hook."""
    written = annotations(trace).get(f"fit.changed.{hook}")
    return None if written is None else Changed(**json.loads(written))


def changed_places(trace: Path, hook: str) -> int:
    """Returns the number of places where it was made; 0 if the run did not have the hook."""
    found = changed(trace, hook)
    return 0 if found is None else found.places
