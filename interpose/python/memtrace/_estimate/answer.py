# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The result of an experiment, for programs and as a sentence."""

from dataclasses import dataclass
from typing import TypedDict

from memtrace._messages import joined_sentences, marked, message_of, translated

# Memory that exists before a step begins.
_STANDING = ("parameters", "buffers", "context", "outside torch", "other processes")
# The parts of a step, by phase.
_PLACES = {
    "forward": marked("the forward pass"),
    "recompute": marked("the backward pass"),
    "backward": marked("the backward pass"),
    "optimizer": "optimizer.step()",
    "evaluate": marked("the evaluation"),
    "generate": marked("the generation of text"),
}


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
        """Returns a place such as "optimizer.step() of step 1"."""
        if self.phase == "init":
            return translated("the placement of the model")
        if self.phase not in _PLACES:
            return translated("step $0", self.step)
        return translated("$0 of step $1", message_of(_PLACES[self.phase]), self.step)


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
        """Says if it fits and, if not, by how much, in one or two sentences."""
        if self.first_failure is None:
            return translated("The model fits: it needs $0 of the card's $1.", _gib(self.total), _gib(self.card_bytes))
        place = self.first_failure.place
        if self.total <= self.card_bytes:
            begin = translated("The model runs out of memory in $0.", place)
            return joined_sentences([begin, self._failed_request(self.first_failure)])
        left = self.card_bytes - sum(self.parts.get(name, 0) for name in _STANDING)
        if left <= 0:
            return translated(
                "The model runs out of memory in $0: it needs $1, $2 more than the card has.",
                place,
                _gib(self.total),
                _gib(self.short_by),
            )
        return translated(
            "The model runs out of memory in $0: it needs $1 more than the $2 that is left.",
            place,
            _gib(self.short_by),
            _gib(left),
        )

    def __str__(self) -> str:
        """Returns one paragraph."""
        shown = [(name, size) for name, size in self.parts.items() if size >= self.total // 200]
        parts = ", ".join(f"{message_of(name)} {_gib(size)}" for name, size in shown)
        sentences = [self.sentence]
        if self.first_failure is not None:
            sentences.append(translated("The request that fails is at $0.", self.first_failure.line))
        sentences.append(translated("At the peak it needs $0: $1.", _gib(self.total), parts))
        sentences.append(
            translated(
                "These figures come from a run on the simulated card $0, which allocated $1 and reserved $2.",
                self.card,
                _gib(self.peak_allocated),
                _gib(self.peak_reserved),
            )
        )
        return joined_sentences(sentences)

    def _failed_request(self, failure: FirstFailure) -> str:
        """Says why a request fails on a card that is large enough for the sum of all."""
        if failure.is_fragmentation:
            return translated(
                "A request for $0 there is $1 more than is available, because the memory is fragmented.",
                _gib(failure.bytes),
                _gib(self.short_by),
            )
        return translated(
            "A request for $0 there is $1 more than is available, although the model needs no more than the card has.",
            _gib(failure.bytes),
            _gib(self.short_by),
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
        """Uses the sentence of `estimate` as the message."""
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
