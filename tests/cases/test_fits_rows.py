# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Applies each remedy that a report of the corpus says fits, one at a time; it must complete on that card."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import case_run
import checkpoint_rows
import fits_arguments
import fits_edits
import growth_rows
import pytest
import verdict_rows
from case_row import NATIVE, OURS, Row
from judging import RESULTS
from support.json_object import JsonObject
from support.programs import MEMTRACE

# Rows whose answer is a report of a run.
REPORTED = [
    row for row in verdict_rows.ROWS + checkpoint_rows.ROWS + growth_rows.ROWS if row.fit is None and not row.reads
]

# Changes by libraries that only the frameworks' environment has.
OF_FRAMEWORKS = ("lora", "adam8bit")


@pytest.mark.skipif(not case_run.CASES.is_dir(), reason="no cases in MEMTRACE_CORPUS")
@pytest.mark.parametrize("row", REPORTED, ids=lambda row: row.name)
def test_remedy_reported_to_fit_completes(row: Row) -> None:
    if row.frameworks and not case_run.FRAMEWORKS.exists():
        pytest.skip("no .venv-frameworks; setup/setup.sh frameworks makes it")
    report = reported(row)
    failed = [fault for remedy in fitting(report) if (fault := fault_of(row, remedy))]
    assert not failed, "\n".join(failed)


# First cures for which the report knows only a lower bound, by the row's command.
FOLLOWED = [("c12_gemma_logits.py", "logits in pieces")]


@pytest.mark.skipif(not case_run.CASES.is_dir(), reason="no cases in MEMTRACE_CORPUS")
@pytest.mark.parametrize(("command", "name"), FOLLOWED)
def test_first_remedy_without_a_prediction_completes(command: str, name: str) -> None:
    (row,) = [row for row in REPORTED if row.command == command]
    if row.frameworks and not case_run.FRAMEWORKS.exists():
        pytest.skip("no .venv-frameworks; setup/setup.sh frameworks makes it")
    first = reported(row)["remedies"][0]
    assert first["name"] == name
    assert fault_of(row, first) == ""
    assert with_edits(row, name), f"nobody has applied {name} to {command}"


def reported(row: Row) -> JsonObject:
    """Returns the report, from an earlier test unless the installed program is newer."""
    kept = RESULTS / row.name / "report.json"
    if not kept.exists() or kept.stat().st_mtime < MEMTRACE.stat().st_mtime:
        shutil.rmtree(kept.parent, ignore_errors=True)
        case_run.record(row, kept.parent)
        case_run.forget_traces(kept.parent)
    return json.loads(kept.read_text())


def fitting(report: JsonObject) -> list[JsonObject]:
    """Returns the remedies that the report says fit, without a larger card, which is not a change."""
    size = report["card"]["bytes"]
    return [
        row
        for row in report["remedies"]
        if row["predicted_peak"] <= size and not row["at_least"] and row["name"] != "a larger card"
    ]


def fault_of(row: Row, remedy: JsonObject) -> str:
    """Runs the row with the remedy alone; returns what went wrong, or "" if it completed or cannot be applied."""
    changed = with_remedy(row, remedy)
    if changed is None:
        return ""
    folder: Path = RESULTS / "fits" / row.name / remedy["name"].replace(" ", "_")
    shutil.rmtree(folder, ignore_errors=True)
    case_run.record(changed, folder)
    case_run.forget_traces(folder)
    seen = case_run.seen(folder)
    if seen.status == 0:
        return ""
    last = (seen.err.strip().splitlines() or [""])[-1][:200]
    return f"{remedy['name']} is said to fit: exit code {seen.status}, {last}; {case_run.command_line(changed)}"


def with_frameworks(row: Row) -> Row | None:
    """Returns the row for the environment that has peft and bitsandbytes; None if there is none."""
    return replace(row, frameworks=True) if case_run.FRAMEWORKS.exists() else None


def with_remedy(row: Row, remedy: JsonObject) -> Row | None:
    """Returns the row with the remedy: by fit's hook, an allocator, the script's own argument, or an edit."""
    name = remedy["name"]
    if name == "memtrace's allocator":
        return replace(row, allocator=OURS)
    if name == "expandable segments":
        return replace(
            row,
            allocator=NATIVE,
            environment={**row.environment, "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
        )
    if name == "no other process":
        return replace(row, card=",".join(word for word in row.card.split(",") if not word.startswith("other=")))
    if remedy["hook"]:
        changed = replace(row, environment={**row.environment, "MEMTRACE_FIT_CHANGES": remedy["hook"]})
        return changed if remedy["hook"] not in OF_FRAMEWORKS else with_frameworks(changed)
    if command := fits_arguments.COMMANDS.get((row.command, name)):
        return replace(row, command=command)
    return with_edits(row, name)


def with_edits(row: Row, name: str) -> Row | None:
    """Returns the row with its script edited by hand; None if there is no edit for the remedy."""
    edits = fits_edits.EDITS.get((row.command, name))
    if edits is None:
        return None
    folder = RESULTS / "edited" / row.name / name.replace(" ", "_")
    script = fits_edits.write_edited(case_run.CASES / row.script, edits, folder)
    return replace(row, command=" ".join([str(script), *row.arguments]))


def test_every_argument_belongs_to_a_row() -> None:
    commands = {row.command for row in REPORTED}
    changed = [*fits_arguments.COMMANDS, *fits_edits.EDITS]
    assert not {command for command, _ in changed} - commands
