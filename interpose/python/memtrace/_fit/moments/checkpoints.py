# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The checkpoint that this job saved, for a second process that resumes from it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from memtrace._core.vocabulary import MOMENT_RESUME
from memtrace._fit import gaps
from memtrace._text.messages import translated

TRANSFORMERS = "transformers"
LIGHTNING = "lightning"
OTHER = "other"  # only the script knows how to resume from it

_DEPTH = 2  # levels of a saved dictionary in which states of an optimizer are looked for

_of_frameworks: list[tuple[str, str]] = []  # kind and path, in the order in which they were saved


def note(kind: str, path: object) -> None:
    """Writes the checkpoint into the file MEMTRACE_FIT_CHECKPOINT.

    A framework's first one counts while it exists: the last one may be of the last step, after which nothing is
    trained. The latest of the script's own counts if there is none of a framework.
    """
    file = os.environ.get("MEMTRACE_FIT_CHECKPOINT")
    if not file or not isinstance(path, str | os.PathLike):
        return
    path = os.path.abspath(os.fspath(path))
    if kind != OTHER:
        _of_frameworks.append((kind, path))
    noted_kind, noted_path = noted()
    if noted_kind in (TRANSFORMERS, LIGHTNING) and (kind == OTHER or os.path.exists(noted_path)):
        return
    _write(file, kind, path)


def settle() -> None:
    """Notes another checkpoint if the noted one was deleted since: frameworks may keep only the latest."""
    file = os.environ.get("MEMTRACE_FIT_CHECKPOINT")
    noted_path = noted()[1]
    if not file or not noted_path or os.path.exists(noted_path):
        return
    for kind, path in _of_frameworks:
        if os.path.exists(path):
            _write(file, kind, path)
            return


def _write(file: str, kind: str, path: str) -> None:
    with open(file, "w", encoding="utf-8") as stream:
        json.dump({"kind": kind, "path": path}, stream)


def noted() -> tuple[str, str]:
    """Returns the kind and the path of the checkpoint; two empty texts if there is none."""
    try:
        with open(os.environ.get("MEMTRACE_FIT_CHECKPOINT", ""), encoding="utf-8") as stream:
            checkpoint = json.load(stream)
    except (OSError, ValueError):
        return "", ""
    return str(checkpoint["kind"]), str(checkpoint["path"])


def note_saved(value: object, path: object) -> None:
    """Notes what the program saved by torch.save, and names the gap if states of an optimizer are in it."""
    note(OTHER, path)
    if _has_states(value, _DEPTH) and noted()[0] == OTHER and not gaps.is_named_or_closed(MOMENT_RESUME):
        gaps.name_gap(
            MOMENT_RESUME,
            translated("It saves states of its optimizer."),
            translated("How the script resumes is not known. --resumed-by says it."),
        )


def _has_states(value: object, depth: int) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "param_groups" in value and "state" in value:
        return True
    return depth > 1 and any(_has_states(part, depth - 1) for part in value.values())
