# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs tests/gpu/hour.sh on the simulated card, from the wheel alone, as pack.sh prepares it.

So the short time on a GPU is not spent on the script's own faults.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.corpus import ROOT

CARD = "h200"
PARTS = ("facts", "ours", "compiled", "speed", "sizes")
# Only some of the groups: all of them take minutes on two cores, and gpu_recordings_test covers the others.
GROUPS = "products reductions"


class Hour:
    """The unpacked files that a machine with a GPU gets."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        packed = subprocess.run(
            [ROOT / "tests/gpu/pack.sh", folder, wheel], capture_output=True, text=True, timeout=120, check=False
        )
        assert packed.returncode == 0, packed.stdout + packed.stderr
        subprocess.run(["tar", "-xzf", folder / "memtrace.tgz", "-C", folder], timeout=60, check=True)
        self.folder = folder / "gpu"

    def run(self, out: Path, *parts: str, expect: int = 0, **variables: str) -> str:
        """Runs parts into `out`; returns what the script printed."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE")}
        done = subprocess.run(
            [self.folder / "hour.sh", *parts],
            env={
                **kept,
                "CARD": CARD,
                "OUT": str(out),
                "PYTHON": sys.executable,
                "GROUPS_OF_SIZES": GROUPS,
                **variables,
            },
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def hour(wheel, tmp_path_factory) -> Hour:
    return Hour(tmp_path_factory.mktemp("hour"), wheel)


@pytest.fixture(scope="module")
def answers(hour, tmp_path_factory) -> Path:
    """Returns the folder with the simulated card's answers to all parts."""
    out = tmp_path_factory.mktemp("answers") / CARD
    hour.run(out, *PARTS)
    return out


def statuses(out: Path) -> dict[str, str]:
    """Returns the exit status of each probe."""
    heads = [line.split() for line in (out / "messages.txt").read_text().splitlines() if line.startswith("== ")]
    return {name.rstrip(":"): status.rstrip(",") for _, name, _, status, *_ in heads}


def test_every_probe_succeeds_and_writes_output(answers):
    found = statuses(answers)
    assert len(found) >= 25
    assert {name: status for name, status in found.items() if status != "0"} == {}
    empty = {name for name in found if (answers / name).stat().st_size == 0}
    assert empty <= {"full_ours.txt"}  # that one speaks on stderr


def test_output_is_small(answers):
    assert not list(answers.rglob("*.trace"))
    assert sum(file.stat().st_size for file in answers.iterdir()) < 16 << 20


def test_program_is_from_the_wheel(hour, answers):
    assert str(hour.folder / "installed" / "memtrace") in (answers / "doctor.txt").read_text()


def test_second_run_finds_no_difference(hour, answers, tmp_path):
    said = hour.run(tmp_path, *PARTS, EXPECTED=str(answers))
    *_, last = said.splitlines()
    words = last.split()
    assert words[0] == "all" and int(words[1]) > 1000 and words[2] == "0", said


def test_difference_is_counted_and_named(hour, answers, tmp_path):
    (tmp_path / "profile.json").write_text((answers / "profile.json").read_text().replace("132", "133"))
    command = [sys.executable, hour.folder / "hour/compare.py", tmp_path, answers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stdout.splitlines()[-1].split()[2] == "1"
    line = "profile.json: multiprocessors.value: found 132, expected 133\n"
    assert (answers / "differences.txt").read_text() == line


def test_existing_output_is_not_made_again(hour, answers):
    before = (answers / "messages.txt").read_text()
    said = hour.run(answers, "compiled")
    assert said.count(": was there") == 4
    assert (answers / "messages.txt").read_text() == before


def test_unknown_part_is_rejected_before_anything_runs(hour, tmp_path):
    done = subprocess.run(
        [hour.folder / "hour.sh", "compiled", "minutes"],
        env={**os.environ, "CARD": CARD, "OUT": str(tmp_path / "out"), "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2 and "no part 'minutes'" in done.stderr
    assert not list((tmp_path / "out").glob("compiled*"))
