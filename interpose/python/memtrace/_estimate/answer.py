# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What an experiment found, for programs and as a sentence."""

from dataclasses import dataclass
from typing import TypedDict

# What is there before a step begins.
_STANDING = ("parameters", "buffers", "context", "outside torch", "other processes")
_PLACES = {"optimizer": "optimizer.step()", "backward": "backward pass", "recompute": "backward pass"}
_ORDINALS = {1: "first", 2: "second", 3: "third"}


@dataclass(frozen=True)
class FirstFailure:
    """The request that the card could not serve. Bytes."""

    line: str  # "train.py:20", or the library's where no line of the program's own is known
    bytes: int
    short_by: int
    step: int
    phase: str
    is_fragmentation: bool

    @property
    def place(self) -> str:
        """As "the first optimizer.step()"."""
        if self.phase == "init":
            return "the placing of the model"
        return f"the {_ORDINALS.get(self.step, f'{self.step}th')} {_PLACES.get(self.phase, self.phase)}"


@dataclass(frozen=True)
class Estimate:
    """What a training needs of a card, seen in a run on a simulated one. Bytes, of the card that has to hold most."""

    card: str  # as docs/simulated-card.md describes cards
    card_bytes: int
    fits: bool
    peak_allocated: int  # as torch.cuda.max_memory_allocated() has it, without a limit
    peak_reserved: int
    parts: dict[str, int]  # by role; they sum to `total`
    total: int  # the peak, the context and what other processes hold
    short_by: int  # 0 if it fits
    first_failure: FirstFailure | None  # None if it fits

    @property
    def sentence(self) -> str:
        """Whether it fits, in one sentence."""
        if self.first_failure is None:
            return f"fits: needs {_gib(self.total)} of the card's {_gib(self.card_bytes)}"
        begin = f"will run out in {self.first_failure.place}: "
        left = self.card_bytes - sum(self.parts.get(name, 0) for name in _STANDING)
        if self.total <= self.card_bytes:
            asked = f"{_gib(self.first_failure.bytes)} are asked there, {_gib(self.short_by)} more than can be had"
            why = (
                "by fragmentation" if self.first_failure.is_fragmentation else "though the sum of what it needs is less"
            )
            return f"{begin}{asked}, {why}"
        if left <= 0:
            return f"{begin}needs {_gib(self.total)}, {_gib(self.short_by)} more than the card has"
        return f"{begin}needs {_gib(self.short_by)} more than the {_gib(left)} left"

    def __str__(self) -> str:
        """One paragraph."""
        parts = ", ".join(f"{name} {_gib(size)}" for name, size in self.parts.items() if size >= self.total // 200)
        where = "" if self.first_failure is None else f" First to fail: {self.first_failure.line}."
        return (
            f"{self.sentence[0].upper()}{self.sentence[1:]} ({self.card}).{where} At the peak it needs "
            f"{_gib(self.total)}: {parts}. Seen in a run on a simulated card, which allocated "
            f"{_gib(self.peak_allocated)} and reserved {_gib(self.peak_reserved)}."
        )


class Part(TypedDict):
    """What one role holds, in bytes."""

    name: str
    bytes: int


class CardNeeds(TypedDict):
    """What one card has to hold, in bytes."""

    card: int
    needs: int
    parts: list[Part]
    peak_allocated: int
    peak_reserved: int


class Failure(TypedDict):
    """The fields of FirstFailure."""

    line: str
    bytes: int
    short_by: int
    step: int
    phase: str
    fragmentation: bool


class FitAnswer(TypedDict):
    """What is read of the schema memtrace.fit/1."""

    cards: list[CardNeeds]
    card_bytes: list[int]
    fits: bool
    first_failure: Failure | None


class DoesNotFit(AssertionError):  # noqa: N818  # a statement, as a failing test reads
    """A training does not fit a card. `estimate` has the figures."""

    def __init__(self, estimate: Estimate) -> None:
        """Says `estimate`'s sentence."""
        super().__init__(estimate.sentence)
        self.estimate = estimate


def from_fit(found: FitAnswer, card: str) -> Estimate:
    """Reads what `memtrace fit --json` printed (schema memtrace.fit/1)."""
    fullest = max(found["cards"], key=lambda one: int(one["needs"]))
    size = int(found["card_bytes"][fullest["card"]])
    parts = {part["name"]: int(part["bytes"]) for part in fullest["parts"]}
    failure = _failure(found["first_failure"])
    return Estimate(
        card=card,
        card_bytes=size,
        fits=bool(found["fits"]),
        peak_allocated=int(fullest["peak_allocated"]),
        peak_reserved=int(fullest["peak_reserved"]),
        parts=parts,
        total=int(fullest["needs"]),
        short_by=max(int(fullest["needs"]) - size, failure.short_by) if failure is not None else 0,
        first_failure=failure,
    )


def _failure(found: Failure | None) -> FirstFailure | None:
    if found is None:
        return None
    words = {name: found[name] for name in ("line", "bytes", "short_by", "step", "phase")}
    return FirstFailure(**words, is_fragmentation=found["fragmentation"])  # type: ignore[arg-type]  # by the field


def _gib(size: int) -> str:
    gib, mib = size / 2**30, size / 2**20
    return f"{gib:.1f} GiB" if gib >= 1 else f"{mib:.1f} MiB"
