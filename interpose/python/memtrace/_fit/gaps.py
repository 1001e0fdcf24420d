# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Moments that the program has and that this run has not seen (docs/design/whole-job.md, "An honest end").

Modules that find evidence of a moment name its gap; modules that make the moment happen close it. Any thread.
"""

import json
import threading
from collections.abc import Callable
from typing import NamedTuple

from memtrace._core.vocabulary import FIT_GAPS


class Gap(NamedTuple):
    """A moment that was not seen."""

    evidence: str  # a sentence that says how it is known that the program has the moment
    why_not: str | None  # a sentence that says why memtrace could not make it happen


_lock = threading.Lock()
_gaps: dict[str, Gap] = {}  # by moment, a word of moments.def
_closed: set[str] = set()
_lasting: dict[str, Gap] = {}  # no other stay in the moment closes these


def name_gap(moment: str, evidence: str, why_not: str | None = None) -> None:
    """Notes that the program has this moment (a MOMENT_ word of the vocabulary), and that it has not been seen.

    Does nothing if the moment was closed; replaces what was said of it before. `evidence` and `why_not` are whole
    sentences in the language in use (`translated`).
    """
    with _lock:
        if moment not in _closed:
            _gaps[moment] = Gap(evidence, why_not)


def name_lasting_gap(moment: str, evidence: str) -> None:
    """Notes that what was to show this moment failed. It stays a gap, whatever else is seen of the moment."""
    with _lock:
        _lasting.setdefault(moment, Gap(evidence, None))


def close_gap(moment: str) -> None:
    """Notes that the moment was seen: it is no gap, whatever is named later."""
    with _lock:
        _closed.add(moment)
        _gaps.pop(moment, None)


def is_named_or_closed(moment: str) -> bool:
    """True if a module has already named the moment's gap, or seen the moment."""
    with _lock:
        return moment in _closed or moment in _gaps


def annotate(write: Callable[[str, str], object]) -> None:
    """Writes the fact `fit.gaps`, also if there are none."""
    with _lock:
        gaps = [{"moment": moment, **gap._asdict()} for moment, gap in (_gaps | _lasting).items()]
    write(FIT_GAPS, json.dumps(gaps, ensure_ascii=False, separators=(",", ":")))
