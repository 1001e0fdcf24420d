# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps the sizes of items that had to be read: for the other runs of a search, and by fingerprint for later ones."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path

from memtrace._fit.moments.measured import MeasuredItems

_CACHE = "~/.cache/memtrace/sizes"
_LEAST_SECONDS = 0.2  # what is measured faster is not worth a file


class KeptSizes:
    """Files of sizes. Those of a search are in MEMTRACE_FIT_SIZES; without a layer over the file system there are none.

    Thread rule: one thread.
    """

    def __init__(self) -> None:
        """Starts without data sets."""
        self._folder = os.environ.get("MEMTRACE_FIT_SIZES") if os.environ.get("MEMTRACE_FIT_SAVES") else None
        self._count = 0

    def load(self, dataset: object, items: MeasuredItems) -> None:
        """Takes over the sizes from an earlier run, and lets `items` be kept for later ones."""
        if self._folder is None:
            return
        self._count += 1
        paths = [Path(self._folder) / f"{_key(dataset, self._count)}.json"]
        if fingerprint := getattr(dataset, "_fingerprint", None):
            paths.append(Path(_CACHE).expanduser() / f"{_digest([str(fingerprint)])}.json")
        for path in paths:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                _take(json.loads(path.read_text()), items)
                break
        items.keep = lambda is_whole: _keep(items, paths if is_whole else paths[:1])


def _key(dataset: object, number: int) -> str:
    """Returns a name for a data set that its program has in each run of the search."""
    kind = type(dataset)
    length = len(dataset) if hasattr(dataset, "__len__") else 0
    words = [*sys.argv, os.environ.get("RANK", ""), f"{kind.__module__}.{kind.__qualname__}"]
    return _digest([*words, str(length), str(number)])


def _digest(words: list[str]) -> str:
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _take(kept: dict[str, list[list[int]]], items: MeasuredItems) -> None:
    for number, which in zip(kept["numbers"], kept["which"], strict=True):
        items.add(int(number), kept["sizes"][int(which)])  # type: ignore[call-overload]
    items.seconds = float(kept["seconds"])  # type: ignore[arg-type]
    items.why_not = str(kept["why_not"])
    items.tried.update(int(number) for number in kept["tried"])  # type: ignore[call-overload]


def _keep(items: MeasuredItems, paths: list[Path]) -> None:
    if items.seconds < _LEAST_SECONDS:
        return
    places: dict[object, int] = {}
    which = [places.setdefault(size, len(places)) for size in items.sizes.values()]
    text = json.dumps(
        {
            "numbers": list(items.sizes),
            "which": which,
            "sizes": [list(size) for size in places],  # type: ignore[call-overload]
            "tried": sorted(items.tried),
            "seconds": items.seconds,
            "why_not": items.why_not,
        }
    )
    for path in paths:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            own = path.with_suffix(f".{os.getpid()}")
            own.write_text(text)
            own.rename(path)  # at once, because other processes read it
