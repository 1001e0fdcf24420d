# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that run out of memory late, each with a relative that completes (docs/design/late-jobs.md).

Each is made after a public report, which its first line names. A program runs out of its card at the line that ends in
`# runs out`. With `--mended` the same program completes on the same card.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.programs import ROOT

FRAMEWORKS = Path(os.environ.get("MEMTRACE_FRAMEWORKS") or ROOT / ".venv-frameworks") / "bin/python"
PROGRAMS = Path(__file__).parent / "programs"
MARK = "# runs out"


@dataclass(frozen=True)
class Late:
    """A program, a card that it runs out of, and the moments of the job in which that may be seen.

    `also` is the call of `memtrace fit --also` that its user would give. A program that `resumes` runs out when it is
    started again with `--resume FILE`. A moment is "step" if the program runs out in a usual step. One with a `trainer`
    needs the environment of frameworks.
    """

    name: str
    card: str
    moments: tuple[str, ...]
    also: str = ""
    resumes: bool = False
    trainer: bool = False

    @property
    def script(self) -> Path:
        return PROGRAMS / f"{self.name}.py"

    @property
    def python(self) -> Path:
        return FRAMEWORKS if self.trainer else Path(sys.executable)

    @property
    def line(self) -> str:
        """Returns the line that runs out, such as `late_save.py:25`."""
        lines = self.script.read_text().splitlines()
        [number] = [number for number, text in enumerate(lines, start=1) if text.endswith(MARK)]
        return f"{self.script.name}:{number}"


ROWS = (
    Late("late_aggregated_logits", "1GiB", ("end", "evaluation")),
    Late("late_best_model", "1936MiB", ("end", "best_model")),
    Late("late_completions", "4GiB", ("step",)),
    Late("late_decode", "2GiB", ("evaluation",), also="validate()"),
    Late("late_evaluation_batch", "1536MiB", ("evaluation",)),
    Late("late_finder", "3328MiB", ("end", "step")),
    Late("late_frames", "1792MiB", ("largest_batch",)),
    Late("late_full_size_images", "4GiB", ("evaluation", "end", "largest_batch")),
    Late("late_generation", "2560MiB", ("generation", "end")),
    Late("late_graph", "1280MiB", ("step",)),
    Late("late_last_batch", "1328MiB", ("largest_batch", "last_batch")),
    Late("late_masks", "2GiB", ("end", "evaluation")),
    Late("late_merge", "1408MiB", ("end", "best_model")),
    Late("late_metric", "1536MiB", ("evaluation", "step")),
    Late("late_preview_pipeline", "1664MiB", ("checkpoint", "end", "step")),
    Late("late_resume", "1670MiB", ("resume",), resumes=True),
    Late("late_save", "1792MiB", ("end", "checkpoint")),
    Late("late_second_epoch", "1560MiB", ("evaluation", "step", "end")),
    Late("late_sentence", "2GiB", ("largest_batch",), trainer=True),
    Late("late_trainer_predictions", "2GiB", ("evaluation",), trainer=True),
    Late("late_transcript", "4GiB", ("largest_batch",)),
)


def skip_without_frameworks(late: Late) -> None:
    """Skips the test if the program needs frameworks that are not installed."""
    if not late.python.exists():
        pytest.skip("no .venv-frameworks (setup/setup.sh frameworks)")
