# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Protects the user's files in a trial of `memtrace fit`: the program's writes go to MEMTRACE_FIT_SCRATCH.

If the system has a layer over all files (tools/fit/files), only checkpoints are replaced.

`FOLDER/home/me/out.txt` stands for `/home/me/out.txt`: later reads of that name find it. A file that the program
deletes stays but is no longer seen (docs/design/fit.md, "The user's files").
"""

import json
import os
import sys
from collections.abc import Callable

from memtrace._core.vocabulary import (
    FIT_KEPT_AWAY_FILES,
    FIT_KEPT_AWAY_FIRST,
    FIT_KEPT_AWAY_SAVES,
    FIT_OTHER_PROGRAMS_COUNT,
    FIT_OTHER_PROGRAMS_FIRST,
)
from memtrace._scratch import _doors, _moves, _opening, _os_calls, _saves, _tensor_saves
from memtrace._scratch._escapes import Escapes
from memtrace._scratch._kept_away import KeptAway
from memtrace._scratch._layer import LayerNames, LayerPlaces, ListedSaves
from memtrace._scratch._names import Names
from memtrace._scratch._places import Places
from memtrace._scratch._programs import StartedPrograms

_TEMPORARY = ".tmp"

_kept: KeptAway | None = None
_programs: StartedPrograms | None = None


def start_from_environment() -> bool:
    """Starts as the variables of `memtrace fit` say. True if this is a trial of it."""
    if saves := os.environ.get("MEMTRACE_FIT_SAVES"):
        start_in_layer(saves)
    elif scratch := os.environ.get("MEMTRACE_FIT_SCRATCH"):
        start(scratch)
    return _kept is not None


def start(folder: str) -> None:
    """Applies from now on to this process and those that it starts. A second call does nothing."""
    global _kept, _programs
    if _kept is not None:
        return
    _kept = KeptAway(ignored=f"/{_TEMPORARY}/")
    _keep_temporary_files(folder)
    # Python writes bytecode without calling any function that could be replaced.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    _programs = StartedPrograms()
    names = Names(folder)
    Escapes(folder, names)
    places = Places(names, _kept)
    _saves.watch(places)
    _tensor_saves.watch(places)
    _os_calls.watch(places)
    _moves.watch(places)
    _opening.watch(places)
    _doors.watch(places)


def start_in_layer(saves: str) -> None:
    """The same if the system protects all files: checkpoints are written without their bytes, and listed in `saves`."""
    global _kept
    if _kept is not None:
        return
    _kept = ListedSaves(saves)
    sys.dont_write_bytecode = True  # each process would fill the layer with it
    places = LayerPlaces(LayerNames(), _kept)
    _saves.watch(places)
    _tensor_saves.watch(places)


def list_saves_in(saves: str) -> None:
    """Lists checkpoints in that file from now on: a run that is forked has a list of its own."""
    if isinstance(_kept, ListedSaves):
        _kept.path = saves


def _keep_temporary_files(folder: str) -> None:
    """Sets a real folder for sockets and for compilers' files, which C creates; /tmp itself is a user's folder."""
    temporary = os.path.join(os.path.realpath(folder), _TEMPORARY)
    os.makedirs(temporary, exist_ok=True)
    os.environ["TMPDIR"] = temporary
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None  # type: ignore[attr-defined]  # so that it is computed again


def annotate(state: Callable[[str, str], object]) -> None:
    """States the files that were kept away from the user's folders, by key."""
    if _kept is not None:
        state(FIT_KEPT_AWAY_FILES, str(len(_kept.files)))
        state(FIT_KEPT_AWAY_SAVES, str(_kept.saves))
        state(FIT_KEPT_AWAY_FIRST, json.dumps(_kept.first()))
    if _programs is not None and _programs.count > 0:
        state(FIT_OTHER_PROGRAMS_COUNT, str(_programs.count))
        state(FIT_OTHER_PROGRAMS_FIRST, json.dumps(_programs.first))
