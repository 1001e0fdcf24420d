# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which ranks of the job and of its groups are processes; the others are virtual."""

import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from memtrace._text.messages import translated


@dataclass(frozen=True)
class GroupRanks:
    """The ranks of a group, counted within it: `size` of them, of which those in `real` (ascending) are processes."""

    size: int
    real: tuple[int, ...]

    @property
    def are_all_real(self) -> bool:
        """True if no rank is virtual."""
        return len(self.real) == self.size

    def index(self, rank: int) -> int | None:
        """Returns the place of a rank among the real ones; None if it is virtual."""
        at = bisect_left(self.real, rank)
        return at if at < len(self.real) and self.real[at] == rank else None

    def nearest(self, rank: int) -> int:
        """Returns the real rank that stands for a rank: the nearest; of two, the lower (as virtual_ranks.cc does)."""
        return min(self.real, key=lambda real: (abs(real - rank), real))


@dataclass(frozen=True)
class Job:
    """The job as this process sees it."""

    rank: int
    ranks: GroupRanks
    cards: int  # of each machine; rank r is on machine r // cards

    def of_group(self, global_ranks: Sequence[int]) -> GroupRanks:
        """Returns the ranks of a group that consists of these ranks of the job, in this order."""
        real = set(self.ranks.real)
        return GroupRanks(len(global_ranks), tuple(at for at, rank in enumerate(global_ranks) if rank in real))

    def machines_of(self, global_ranks: Sequence[int]) -> tuple[int, ...]:
        """Returns the number of the machine of each of these ranks of the job."""
        return tuple(rank // self.cards for rank in global_ranks)

    def check(self, size: int, rank: int) -> None:
        """Raises ValueError if the program says another size of the job, or another rank of this process."""
        if (size, rank) != (self.ranks.size, self.rank):
            raise ValueError(
                translated(
                    "The program starts a job of $0 ranks as rank $1, but memtrace run --world $2 started this process "
                    "as rank $3. Take both numbers from WORLD_SIZE and RANK.",
                    size,
                    rank,
                    self.ranks.size,
                    self.rank,
                )
            )

    def has_on_this_machine(self, global_ranks: Sequence[int]) -> bool:
        """Returns true if all these ranks of the job are on this process's machine."""
        return all(machine == self.rank // self.cards for machine in self.machines_of(global_ranks))

    def with_rank(self, rank: int) -> str:
        """Returns the value for --ranks with one more rank, such as "0,448"."""
        return ",".join(str(one) for one in sorted({*self.ranks.real, rank}))


def job_from_environment() -> Job | None:
    """Returns the job that `memtrace run --world` started; None if this process is not of one."""
    listed = os.environ.get("MEMTRACE_REAL_RANKS", "")
    if not listed:
        return None
    real = tuple(int(rank) for rank in listed.split(","))
    return Job(int(os.environ["RANK"]), GroupRanks(int(os.environ["WORLD_SIZE"]), real), _cards())


def _cards() -> int:
    """Returns the cards of each machine. The last machine of a job may have fewer ranks than cards."""
    machine = int(os.environ["GROUP_RANK"])
    if machine == 0:
        return int(os.environ["LOCAL_WORLD_SIZE"])
    return (int(os.environ["RANK"]) - int(os.environ["LOCAL_RANK"])) // machine
