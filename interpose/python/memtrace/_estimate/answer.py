# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The result of an experiment, for programs and as a sentence."""

from dataclasses import dataclass
from typing import TypedDict

# Memory that exists before a step begins.
_STANDING = ("parameters", "buffers", "context", "outside torch", "other processes")
_PLACES = {"optimizer": "optimizer.step()", "backward": "backward pass", "recompute": "backward pass"}
_ORDINALS = {1: "first", 2: "second", 3: "third"}


@dataclass(frozen=True)
class FirstFailure:
    """The request that the card could not serve. Bytes."""

    line: str  # "train.py:20", or the library's line if none of the program's own is known
    bytes: int
    short_by: int
    step: int
    phase: str
    is_fragmentation: bool

    @property
    def place(self) -> str:
        """Returns a place such as "the first optimizer.step()"."""
        if self.phase == "init":
            return "the placing of the model"
        return f"the {_ORDINALS.get(self.step, f'{self.step}th')} {_PLACES.get(self.phase, self.phase)}"


@dataclass(frozen=True)
class Estimate:
    """The memory that a training needs, seen in a run on a simulated card. Bytes, on the card that has to hold most."""

    card: str  # a specification as in docs/design/simulated-card.md
    card_bytes: int
    fits: bool
    peak_allocated: int  # like torch.cuda.max_memory_allocated(), without a limit
    peak_reserved: int
    parts: dict[str, int]  # by role; they sum to `total`
    total: int  # the peak, the context and what other processes hold
    short_by: int  # 0 if it fits
    first_failure: FirstFailure | None  # None if it fits

    @property
    def sentence(self) -> str:
        """One sentence that says if it fits."""
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
        """Returns one paragraph."""
        parts = ", ".join(f"{name} {_gib(size)}" for name, size in self.parts.items() if size >= self.total // 200)
        where = "" if self.first_failure is None else f" First to fail: {self.first_failure.line}."
        return (
            f"{self.sentence[0].upper()}{self.sentence[1:]} ({self.card}).{where} At the peak it needs "
            f"{_gib(self.total)}: {parts}. Seen in a run on a simulated card, which allocated "
            f"{_gib(self.peak_allocated)} and reserved {_gib(self.peak_reserved)}."
        )


class Part(TypedDict):
    """The bytes that one role holds."""

    name: str
    bytes: int


class CardNeeds(TypedDict):
    """The bytes that one card has to hold."""

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
    """The fields of the schema memtrace.fit/1 that are read."""

    cards: list[CardNeeds]
    card_bytes: list[int]
    fits: bool
    first_failure: Failure | None


class DoesNotFit(AssertionError):  # noqa: N818  # a statement, as a failing test reads
    """Raised if a training does not fit a card. `estimate` has the figures."""

    def __init__(self, estimate: Estimate) -> None:
        """Uses `estimate`'s sentence as the message."""
        super().__init__(estimate.sentence)
        self.estimate = estimate


def from_fit(found: FitAnswer, card: str) -> Estimate:
    """Parses the output of `memtrace fit --json` (schema memtrace.fit/1)."""
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
