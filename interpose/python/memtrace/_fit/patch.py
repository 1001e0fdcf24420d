# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The changes of a trial as a patch to the program's files, where a change is an argument of one call."""

from __future__ import annotations

import difflib
import functools
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memtrace._changes._change import Change
from memtrace._fit.calls import Call, call_of_program, watch_training_arguments
from memtrace._fit.source_edit import Edit, applied, edit_for
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._text.messages import translated


@dataclass(frozen=True)
class Argument:
    """An argument that makes a change, and the function that takes it as edit_for names it."""

    name: str
    value: str
    of: str


_OPTIMIZER = ""
_ARGUMENTS = {
    "balanced": Argument("device_map", '"balanced"', "from_pretrained"),
    "fused": Argument("fused", "True", _OPTIMIZER),
    "loop": Argument("foreach", "False", _OPTIMIZER),
    "mean_resizing": Argument("mean_resizing", "False", "resize_token_embeddings"),
}
# Arguments of TrainingArguments by which a Trainer makes a change.
_TRAINING_ARGUMENTS = {
    "checkpoint": Argument("gradient_checkpointing", "True", "Arguments"),
    "fused": Argument("optim", '"adamw_torch_fused"', "Arguments"),
}
Edits = dict[str, list[Edit]]  # by file


class Patch:
    """Notes the calls of the program at which changes are made; makes the patch at the end."""

    def __init__(self, changes: list[Change]) -> None:
        """Notes calls from now on."""
        self._changes = changes
        self._calls: dict[str, list[Call]] = {change.name: [] for change in changes}
        self._training_arguments: list[Call] = []
        self._left_out: dict[str, str] = {}
        for change in changes:
            change.at_made.append(functools.partial(self._note, change.name))
        watch_training_arguments(self._training_arguments.append)

    def _note(self, name: str) -> None:
        call = call_of_program()
        if call is not None and call not in self._calls[name]:
            self._calls[name].append(call)

    def text(self) -> str:
        """Returns the patch; "" if no change is an argument of one call."""
        edits: Edits = defaultdict(list)
        for change in self._changes:
            if change.places > 0:
                for file, of_change in self._edits(change).items():
                    edits[file] += of_change
        return "".join(_difference(file, edits[file]) for file in sorted(edits))

    def left_out(self) -> Iterator[tuple[str, str]]:
        """Yields the changes that are not in the patch, each with a sentence that says why; after `text`."""
        yield from self._left_out.items()

    def _edits(self, change: Change) -> Edits:
        is_of_some_layers = change.name == "checkpoint" and change.value != ""
        known = change.name in _ARGUMENTS or change.name in _TRAINING_ARGUMENTS
        if not known or is_of_some_layers:
            self._left_out[change.name] = translated("it is more than an argument of a call")
            return {}
        found = _edits_of(self._calls[change.name], _ARGUMENTS.get(change.name)) or _edits_of(
            self._training_arguments, _TRAINING_ARGUMENTS.get(change.name)
        )
        if not found:
            self._left_out[change.name] = translated("no single call in your files makes it")
        return found


def _edits_of(calls: list[Call], argument: Argument | None) -> Edits:
    """Returns the edits that give all the calls the argument; none if one of the calls cannot take it."""
    edits: Edits = defaultdict(list)
    if argument is None:
        return edits
    for call in calls:
        try:
            edit = edit_for(Path(call.file).read_bytes(), call, argument.name, argument.value, argument.of)
        except Exception as error:  # the file is missing or not Python
            raise_if_from_outside(error)
            edit = None
        if edit is None:
            return {}
        edits[call.file].append(edit)
    return edits


def _difference(file: str, edits: list[Edit]) -> str:
    before = Path(file).read_bytes()
    after = applied(before, edits)
    shown = os.path.relpath(file)
    lines = difflib.unified_diff(
        before.decode().splitlines(keepends=True), after.decode().splitlines(keepends=True), f"a/{shown}", f"b/{shown}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
