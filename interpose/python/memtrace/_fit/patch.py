# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The changes of a trial as a patch to the program's files, where a change is an argument of one call."""

from __future__ import annotations

import difflib
import functools
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from memtrace._changes._change import Change
from memtrace._changes._living_modules import modules
from memtrace._fit.calls import Call, ConstructorCalls, call_of_program, watch_training_arguments
from memtrace._fit.source_edit import ARGUMENTS, OPTIMIZER, Argument, Edit, applied, edit_for
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._text.messages import translated

_ARGUMENTS = {
    "balanced": Argument("device_map", '"balanced"', "from_pretrained"),
    "fused": Argument("fused", "True", OPTIMIZER),
    "loop": Argument("foreach", "False", OPTIMIZER),
    "mean_resizing": Argument("mean_resizing", "False", "resize_token_embeddings", place=2),
    "set_to_none": Argument("set_to_none", "True", "zero_grad", place=0),
}
_AS_MADE = ""  # stands for the value that the change gave the object
# Arguments of TrainingArguments by which a Trainer makes a change.
_TRAINING_ARGUMENTS = {
    "adam8bit": {"optim": '"adamw_bnb_8bit"'},
    "checkpoint": {"gradient_checkpointing": "True"},
    "fused": {"optim": '"adamw_torch_fused"'},
    "liger": {"use_liger_kernel": "True"},
    "micro": {"per_device_train_batch_size": _AS_MADE, "gradient_accumulation_steps": _AS_MADE},
}
# Classes whose constructors take arguments by which other changes are made, and the place of some without a name.
_CONSTRUCTED = (
    ("lightning.pytorch.trainer.trainer", "Trainer"),
    ("pytorch_lightning.trainer.trainer", "Trainer"),
    ("torch.utils.data.dataloader", "DataLoader"),
)
_PLACES = {"batch_size": 1}
Edits = dict[str, list[Edit]]  # by file


class Patch:
    """Notes the calls of the program at which changes are made; makes the patch at the end."""

    def __init__(self, changes: list[Change]) -> None:
        """Notes calls from now on."""
        self._changes = changes
        self._calls: dict[str, list[Call]] = {change.name: [] for change in changes}
        self._training_arguments: list[tuple[Call, object]] = []
        self._constructed = ConstructorCalls()
        self._constructor_arguments: dict[str, list[tuple[Call | None, Argument]]] = defaultdict(list)
        self._left_out: dict[str, str] = {}
        for change in changes:
            change.at_made.append(functools.partial(self._note, change.name))
            change.at_argument.append(functools.partial(self._note_argument, change.name))
        for module, name in _CONSTRUCTED:
            self._constructed.watch(module, name)
        watch_training_arguments(lambda call, made: self._training_arguments.append((call, made)))

    def _note(self, name: str) -> None:
        call = call_of_program()
        if call is not None and call not in self._calls[name]:
            self._calls[name].append(call)

    def _note_argument(self, change: str, made: object, name: str, value: object) -> None:
        argument = Argument(name, str(value), type(made).__name__, _PLACES.get(name), may_be_given=True)
        self._constructor_arguments[change].append((self._constructed.call_of(made), argument))

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
        of_trainer = change.name in _TRAINING_ARGUMENTS and bool(self._training_arguments)
        is_argument = change.name in _ARGUMENTS or of_trainer or change.name in self._constructor_arguments
        if not is_argument or is_of_some_layers:
            self._left_out[change.name] = translated("it is more than an argument of a call")
            return {}
        found = (
            _edits_of(self._of_calls(change.name))
            or _edits_of(self._of_training_arguments(change.name))
            or _edits_of(self._of_constructors(change.name))
        )
        if found and change.name == "adam8bit" and _trains_embeddings():
            why = translated("transformers keeps the states of embeddings in 32 bits with this optimizer")
            self._left_out[change.name] = why
            return {}
        if not found:
            self._left_out[change.name] = translated("no single call in your files makes it")
        return found

    def _of_calls(self, name: str) -> Iterator[tuple[Call, Argument]]:
        if name in _ARGUMENTS:
            yield from ((call, _ARGUMENTS[name]) for call in self._calls[name])

    def _of_training_arguments(self, name: str) -> Iterator[tuple[Call, Argument]]:
        for call, made in self._training_arguments:
            for argument, value in _TRAINING_ARGUMENTS.get(name, {}).items():
                value = value or str(getattr(made, argument))
                yield call, Argument(argument, value, ARGUMENTS, may_be_given=True)

    def _of_constructors(self, name: str) -> Iterator[tuple[Call | None, Argument]]:
        """Yields each call once; None for one that has also constructed objects that the change leaves alone."""
        noted = self._constructor_arguments.get(name, [])
        for (call, argument), times in Counter(noted).items():
            is_shared = call is not None and self._constructed.objects(call) > times
            yield None if is_shared else call, argument


def _trains_embeddings() -> bool:
    torch = sys.modules["torch"]
    embeddings = (module for module in modules(torch) if isinstance(module, torch.nn.Embedding))
    return any(embedding.weight.requires_grad for embedding in embeddings)


def _edits_of(arguments: Iterable[tuple[Call | None, Argument]]) -> Edits:
    """Returns the edits that give each call its argument; none if one of the calls is unknown or cannot take it."""
    edits: Edits = defaultdict(list)
    for call, argument in arguments:
        if call is None:
            return {}
        try:
            edit = edit_for(Path(call.file).read_bytes(), call, argument)
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
