# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Changes that a program is to run with: a file that `memtrace fit --save-plan` wrote, or names.

tools/fit/answer/saved_changes.h describes the file, and checks what the command line shows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import NotRequired, TypedDict

from memtrace._apply.moments import AFTER_STEP, END, SECOND_STEP, STEP
from memtrace._core.package import minor_of
from memtrace._program.script import is_script_of, script_facts
from memtrace._text.messages import translated

_SCHEMA = "memtrace.changes/1"
_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
_EXPANDABLE = "expandable-segments"
_SHORT_NAMES = {"checkpointing": "checkpoint"}
# It notes a write to memory that should have been a copy, but does not prevent it.
_ONLY_SIMULATED = ("share",)
# The moments by which named changes have been made somewhere, where that may be after the first step begins.
_FOUND_BY = {
    "graph_pool": END,  # programs capture graphs after some steps that warm up, or for each new shape
    "set_to_none": SECOND_STEP,  # loops call zero_grad before a backward pass, or after the step
    "share": END,  # a copy of the weights may be made at any time
    "states_on_host": AFTER_STEP,  # optimizers make their states in their first step
}


@dataclass(frozen=True)
class Expected:
    """The places at which the trial made a change."""

    by: str = STEP  # the moment of moments.py at which `places` was counted
    places: int | None = None  # None: not known, but more than none
    of: int = 0
    target: str = ""


@dataclass(frozen=True)
class Plan:
    """The changes, and what they were found with."""

    name: str  # as the user gave it
    words: str  # as in MEMTRACE_FIT_CHANGES
    expected: dict[str, Expected] = field(default_factory=dict)
    torch: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    script: str = ""
    script_version: str = ""
    allocator: str = ""
    settings: dict[str, str] = field(default_factory=dict)

    def expected_of(self, change: str) -> Expected:
        """Returns what the trial saw of that change; a usual expectation if there was no trial."""
        return self.expected.get(change, Expected())


class _SavedChange(TypedDict):
    """A change in the file."""

    name: str
    degree: NotRequired[str]
    by: str
    places: int | None
    of: int
    target: str


class _SavedScript(TypedDict):
    """The script with which the changes were found."""

    name: str
    sha256: str


class _SavedPlan(TypedDict):
    """The file."""

    schema: str
    changes: list[_SavedChange]
    torch: str
    packages: dict[str, str]
    script: _SavedScript
    allocator: str
    settings: dict[str, str]


def read(changes: str) -> Plan:
    """Reads the file, or parses the names. Raises ValueError with a sentence if either is wrong."""
    if os.path.exists(changes):
        return _from_file(changes)
    if os.sep in changes or changes.endswith(".json"):
        raise ValueError(translated("there is no file $0; memtrace fit --save-plan writes one", changes))
    return _from_names(changes)


def _from_names(names: str) -> Plan:
    words, settings, expected = [], {}, {}
    for word in names.split(","):
        name, equals, degree = word.partition("=")
        if name == _EXPANDABLE:
            settings[_SETTINGS[1]] = "expandable_segments:True"
        else:
            hook = _known(name)
            words.append(hook + equals + degree)
            expected[hook] = Expected(by=_FOUND_BY.get(hook, STEP))
    return Plan(names, ",".join(words), expected, settings=settings, allocator="native" if settings else "")


def _known(name: str) -> str:
    from memtrace import _changes

    hook = _SHORT_NAMES.get(name, name).replace("-", "_")
    if hook not in _changes.NAMES:
        known = ", ".join([*_changes.NAMES, _EXPANDABLE]).replace("_", "-")
        raise ValueError(translated("there is no change '$0'; the changes are $1", name, known))
    return hook


def _from_file(file: str) -> Plan:
    try:
        saved: _SavedPlan = json.loads(Path(file).read_text(encoding="utf-8"))
        schema = str(saved["schema"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(translated("$0 is not a file that memtrace fit --save-plan wrote", file)) from None
    if schema != _SCHEMA:
        raise ValueError(
            translated(
                "$0 has the schema $1, and this memtrace reads $2; make it again with memtrace fit --save-plan",
                file,
                schema,
                _SCHEMA,
            )
        )
    try:
        return _plan_of(file, saved)
    except (AttributeError, KeyError, TypeError):
        raise ValueError(translated("$0 is not a file that memtrace fit --save-plan wrote", file)) from None


def _plan_of(file: str, saved: _SavedPlan) -> Plan:
    changes = saved["changes"]
    words = [_known(change["name"]) + (f"={change['degree']}" if change.get("degree") else "") for change in changes]
    expected = {
        _known(change["name"]): Expected(change["by"], change["places"], change["of"], change["target"])
        for change in changes
    }
    return Plan(
        os.path.basename(file),
        ",".join(words),
        expected,
        saved["torch"],
        dict(saved["packages"]),
        saved["script"]["name"],
        saved["script"]["sha256"],
        saved["allocator"],
        dict(saved["settings"]),
    )


def differences(plan: Plan) -> Iterator[str]:
    """Yields a sentence for each thing that differs from the trial: torch, libraries, the script, the cards."""
    if plan.torch and (installed := _installed("torch")) and minor_of(installed) != minor_of(plan.torch):
        yield _made_for(plan, "torch", minor_of(plan.torch), minor_of(installed))
    for package, version in plan.packages.items():
        installed = _installed(package)
        if not installed:
            yield translated("$0 was made for $1 $2, which is not installed.", plan.name, package, version)
        elif installed != version:
            yield _made_for(plan, package, version, installed)
    is_same_name = script_facts()["script"] == plan.script
    if plan.script_version and is_same_name and not is_script_of(plan.script_version):
        yield translated("$0 was made for another version of $1.", plan.name, plan.script)
    if not os.environ.get("MEMTRACE_CARD"):
        for change in _ONLY_SIMULATED:
            if change in [word.partition("=")[0] for word in plan.words.split(",")]:
                yield translated("The change '$0' can only be applied on a simulated card.", change)


def other_script(plan: Plan) -> str:
    """Returns a sentence if this process runs a script of another name; "" if not."""
    script = script_facts()["script"]
    if not plan.script_version or script == plan.script or not script.endswith(".py"):
        return ""
    return translated("$0 was made for $1, and the program is $2.", plan.name, plan.script, script)


def missing_packages(plan: Plan) -> Iterator[str]:
    """Yields a sentence for each change whose own package is not installed."""
    from memtrace import _changes

    for word in plan.words.split(","):
        change = word.partition("=")[0]
        if change and (package := _changes.missing_package(change)):
            yield translated("The change '$0' needs $1, which is not installed.", change, package)


def _made_for(plan: Plan, package: str, version: str, installed: str) -> str:
    return translated("$0 was made for $1 $2, and $3 is installed.", plan.name, package, version, installed)


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def are_settings_set() -> bool:
    """True if the user has chosen settings of torch's allocator."""
    return any(os.environ.get(name) for name in _SETTINGS)
