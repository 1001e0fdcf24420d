# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The result of an experiment, for programs and as a sentence."""

from dataclasses import dataclass
from typing import TypedDict

from memtrace._core.vocabulary import (
    PHASE_BACKWARD,
    PHASE_EVALUATE,
    PHASE_FORWARD,
    PHASE_GENERATE,
    PHASE_INIT,
    PHASE_OPTIMIZER,
    PHASE_RECOMPUTE,
    PHASES,
)
from memtrace._text.messages import joined_sentences, marked, message_of, translated

# Memory that exists before a step begins.
_STANDING = ("parameters", "buffers", "context", "outside torch", "other processes")
# The parts of a step, by phase.
_PLACES = {
    PHASES[PHASE_FORWARD]: marked("the forward pass"),
    PHASES[PHASE_RECOMPUTE]: marked("the backward pass"),
    PHASES[PHASE_BACKWARD]: marked("the backward pass"),
    PHASES[PHASE_OPTIMIZER]: "optimizer.step()",
    PHASES[PHASE_EVALUATE]: marked("the evaluation"),
    PHASES[PHASE_GENERATE]: marked("the generation of text"),
}


@dataclass(frozen=True)
class FirstFailure:
    """The request that the card could not serve: `Estimate.first_failure`.

    Attributes:
        line: The line that made it, such as "train.py:20". If none of the program's own is known, the path of the
            module, such as "layers.3.mlp" ("module 3" if the path is a number), or the library's line. None if none of
            them is known.
        bytes: The size of the request.
        short_by: How many bytes more it needed than were available.
        step: The number of the step, from 1; 0 before the first forward pass.
        phase: The part of the step: "init" (the placement of the model), "forward", "recompute", "backward",
            "optimizer", "evaluate", "generate" or "other".
        is_fragmentation: True if unused memory in pieces would have sufficed for the rest of the step.
    """

    line: str | None
    bytes: int
    short_by: int
    step: int
    phase: str
    is_fragmentation: bool

    @property
    def place(self) -> str:
        """The place in words, such as "optimizer.step() of step 1"."""
        if self.phase == PHASES[PHASE_INIT]:
            return translated("the placement of the model")
        if self.phase not in _PLACES:
            return translated("step $0", self.step)
        return translated("$0 of step $1", message_of(_PLACES[self.phase]), self.step)


@dataclass(frozen=True)
class Estimate:
    """The memory that a training needs, as a run on a simulated card found it: the result of `estimate`.

    All sizes are in bytes. If there are several cards, they are those of the card that has to hold most. `str()` of it
    is one paragraph with all figures.

    Thread rule: any thread. It cannot be changed.

    Attributes:
        card: The cards that were simulated, as for `memtrace run --card`.
        card_bytes: The size of the card.
        fits: True if the training fits.
        peak_allocated: The most that is allocated, as `torch.cuda.max_memory_allocated()` would return it on a card
            without a limit.
        peak_reserved: The same for `torch.cuda.max_memory_reserved()`.
        parts: The bytes at the peak by their role, such as "parameters", "gradients" and "context". They sum to
            `total`.
        total: The bytes that are needed at the peak, with the context and what other processes hold.
        short_by: The bytes that are missing; 0 if it fits.
        first_failure: The request that failed; None if none did.
        full_in_step: The step in which the card is full if memory rises from step to step. That step was run or, if it
            is too far away, extrapolated from the steps that were made. None if memory does not rise, or the training
            fits.

    Example:
        >>> import memtrace, torch
        >>> model = torch.nn.Linear(4096, 4096)
        >>> optimizer = torch.optim.AdamW(model.parameters())
        >>> found = memtrace.estimate(model, optimizer, torch.zeros(8, 4096), card="768MiB")
        >>> found.fits, found.card_bytes
        (False, 805306368)
        >>> found.total == sum(found.parts.values())
        True
        >>> found.parts["optimizer states"] == 2 * found.parts["parameters"]
        True
        >>> found.sentence.startswith("The model runs out of memory in optimizer.step() of step 1: it needs")
        True
        >>> found.first_failure.phase, found.first_failure.place
        ('optimizer', 'optimizer.step() of step 1')
    """

    card: str
    card_bytes: int
    fits: bool
    peak_allocated: int
    peak_reserved: int
    parts: dict[str, int]
    total: int
    short_by: int
    first_failure: FirstFailure | None
    full_in_step: int | None = None

    @property
    def sentence(self) -> str:
        """One or two sentences that say if it fits and, if not, where memory runs out and by how much."""
        if self.full_in_step is not None:
            return translated(
                "The model does not fit: it holds more memory from step to step, and the card is full in step $0.",
                self.full_in_step,
            )
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
        if self.first_failure is not None and self.first_failure.line is not None:
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

    line: str | None
    bytes: int
    short_by: int
    step: int
    phase: str
    fragmentation: bool


class Rise(TypedDict):
    """The course of a peak that rises from step to step."""

    full_in_step: int


class Seen(TypedDict, total=False):
    """The steps that were seen; `rise` is there only if the peak rises."""

    rise: Rise


class Scaling(TypedDict):
    """The largest number with which the program fits; None if it fits with none."""

    largest: int | None


class FitAnswer(TypedDict):
    """The fields of the schema memtrace.fit/1 that are read."""

    cards: list[CardNeeds]
    card_bytes: list[int]
    fits: bool
    first_failure: Failure | None
    seen: Seen
    scalings: list[Scaling]


class DoesNotFit(AssertionError):  # noqa: N818  # a statement, as a failing test reads
    """The AssertionError that `check_fit` and the callbacks raise if a training does not fit a card.

    Its message is the sentence of the estimate.

    Thread rule: any thread.

    Args:
        estimate: The estimate, which does not fit.

    Attributes:
        estimate: The same, with the figures.

    Example:
        >>> import memtrace, torch
        >>> model = torch.nn.Linear(4096, 4096)
        >>> optimizer = torch.optim.AdamW(model.parameters())
        >>> try:
        ...     found = memtrace.check_fit(model, optimizer, torch.zeros(8, 4096), card="768MiB")
        ... except memtrace.DoesNotFit as error:
        ...     found = error.estimate
        >>> found.fits, found.short_by > 0
        (False, True)
    """

    def __init__(self, estimate: Estimate) -> None:
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
        full_in_step=_full_in_step(found, failure),
    )


def _full_in_step(found: FitAnswer, failure: FirstFailure | None) -> int | None:
    """Returns the step that fails because memory rises, as it was run or, if that was too far, as extrapolated."""
    rise = found["seen"].get("rise")
    if not rise or found["fits"]:
        return None
    return int(rise["full_in_step"]) if failure is None else failure.step


def _failure(found: Failure | None) -> FirstFailure | None:
    if found is None:
        return None
    words = {name: found[name] for name in ("line", "bytes", "short_by", "step", "phase")}
    return FirstFailure(**words, is_fragmentation=found["fragmentation"])  # type: ignore[arg-type]  # by the field


def _gib(size: int) -> str:
    gib, mib = size / 2**30, size / 2**20
    return f"{gib:.1f} GiB" if gib >= 1 else f"{mib:.1f} MiB"
