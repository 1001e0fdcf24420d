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
RESUMED = "{python} {script} --resume {{checkpoint}}"


@dataclass(frozen=True)
class Late:
    """A program, a card that it runs out of, and the moment of the job's life in which it does.

    `also` and `resumed_by` are options of `memtrace fit` that its user would give. `in_library` is true if the marked
    line is in a library's call, whose own line may be named instead.
    """

    name: str
    card: str
    moment: str
    also: str = ""
    resumed: bool = False

    @property
    def script(self) -> Path:
        return PROGRAMS / f"{self.name}.py"

    @property
    def line(self) -> str:
        """Returns the line that runs out, such as `late_save.py:25`."""
        lines = self.script.read_text().splitlines()
        [number] = [number for number, text in enumerate(lines, start=1) if text.endswith(MARK)]
        return f"{self.script.name}:{number}"
