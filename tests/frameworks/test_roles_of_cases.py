# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Roles of the five cases to the byte, at each report; as a program it prints the table of docs/design/recording.md."""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest
from frameworks_under_test import PROGRAMS, PYTHON, needs_frameworks
from support.corpus import CORPUS
from support.events import alive, blocks
from support.programs import Finished, on_card

SCENARIOS = CORPUS / "scenarios"
pytestmark = [
    needs_frameworks,
    pytest.mark.skipif(not SCENARIOS.is_dir(), reason="no scenarios in MEMTRACE_CORPUS"),
]

ROLES = ("parameter", "gradient", "optimizer_state")
# The command, the card, and the moment of the table, which has as much memory alive as possible.
CASES = {
    "A": ("case_a_mend.py", "48GiB", "step 1 outer backward"),
    "B": ("case_b_grpo.py --new 16", "80GiB", "step 1 backward"),
    "B, LoRA": ("case_b_grpo.py --lora --ckpt --new 16", "24GiB", "step 1 backward"),
    "C": ("case_c_cogvideo.py --ckpt", "80GiB", "step 1 backward"),
    "D": ("case_d_reward.py", "80GiB", "step 1 backward"),
    "D, LoRA": ("case_d_reward.py --lora --batch 4", "64GiB", "step 1 backward"),
    "E": ("case_e_resize.py", "23.68GiB,cc=8.6", "resized"),
    "E, four cards": ("case_e_resize.py --map auto", "4x23.68GiB,cc=8.6", "resized"),
}


def run(case: str, folder: Path) -> Finished:
    command, card, _ = CASES[case]
    script, *arguments = command.split()
    offline = {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    program = (PROGRAMS / "counted_roles.py", folder, str(SCENARIOS / script), *arguments)
    return on_card(*program, card=card, options=("--host-values", "on"), python=PYTHON, seconds=500, **offline)


def compared(finished: Finished) -> list[tuple[str, int, str, int, int]]:
    """Returns each report's tag, card and role, with the bytes by arithmetic and those of the trace."""
    found = blocks(finished.trace)
    rows = []
    for line in finished.out.splitlines():
        if not line.startswith('{"tag"'):
            continue
        told = json.loads(line)
        recorded: Counter[str] = Counter()
        for block in alive(found, told["card"], told["born"], told["gone"]):
            recorded += block.bytes_by_role()
        rows += [(told["tag"], told["card"], role, told[role], recorded[role]) for role in ROLES]
    return rows


@pytest.mark.parametrize("case", CASES)
def test_roles_equal_the_scripts_own_sums(tmp_path, case):
    finished = run(case, tmp_path)
    rows = compared(finished)
    assert {row[0] for row in rows} >= {CASES[case][2], "end"}
    assert [row for row in rows if row[3] != row[4]] == []
    peak = finished.report()["peak"]
    unknown = sum(row["bytes"] for row in peak["by_role"] if row["name"] == "unknown")
    assert unknown <= 0.01 * peak["bytes"], peak["by_role"]


def main() -> None:
    """Prints the table of docs/design/recording.md."""
    for case, (_, _, moment) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            finished = run(case, Path(folder))
            peak = finished.report()["peak"]
            rows = [row for row in compared(finished) if row[0] == moment]
        unknown = sum(row["bytes"] for row in peak["by_role"] if row["name"] == "unknown")
        for role in ROLES:
            told = sum(row[3] for row in rows if row[2] == role)
            recorded = sum(row[4] for row in rows if row[2] == role)
            print(f"| {case} | {moment} | {role} | {told:,} | {recorded:,} | {recorded - told:,} |", flush=True)
        print(f"| {case} | peak | unknown | | {unknown:,} | {unknown / peak['bytes']:.3%} |", flush=True)


if __name__ == "__main__":
    main()
