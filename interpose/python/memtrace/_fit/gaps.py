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
_missing: dict[str, str] = {}  # by moment: why memtrace could not make it happen or see it
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


def note_missing(moment: str, why_not: str) -> None:
    """Notes what a library lacks so that the moment can be made or seen; a gap of the moment says it."""
    with _lock:
        _missing.setdefault(moment, why_not)


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
        gaps = [
            {"moment": moment, "evidence": gap.evidence, "why_not": gap.why_not or _missing.get(moment)}
            for moment, gap in (_gaps | _lasting).items()
        ]
    write(FIT_GAPS, json.dumps(gaps, ensure_ascii=False, separators=(",", ":")))
