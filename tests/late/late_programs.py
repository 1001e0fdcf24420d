# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that run out of memory late, each with a relative that completes (docs/design/late-jobs.md).

Each is made after a public report, which its first line names. A program runs out of its card at the line that ends in
`# runs out`. With `--mended` the same program completes on the same card.
"""

from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
MARK = "# runs out"


@dataclass(frozen=True)
class Late:
    """A program, a card that it runs out of, and the moments of the job in which that may be seen.

    `also` is the call of `memtrace fit --also` that its user would give. A program that `resumes` runs out when it is
    started again with `--resume FILE`. A moment is "step" if the program runs out in a usual step.
    """

    name: str
    card: str
    moments: tuple[str, ...]
    also: str = ""
    resumes: bool = False

    @property
    def script(self) -> Path:
        return PROGRAMS / f"{self.name}.py"

    @property
    def line(self) -> str:
        """Returns the line that runs out, such as `late_save.py:25`."""
        lines = self.script.read_text().splitlines()
        [number] = [number for number, text in enumerate(lines, start=1) if text.endswith(MARK)]
        return f"{self.script.name}:{number}"


ROWS = (Late("late_aggregated_logits", "1GiB", ("end", "evaluation")),)
