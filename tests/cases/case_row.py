# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A row of the corpus of cases: the script and card, and what memtrace must report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from support.json_object import JsonObject

NATIVE = "native"
OURS = "memtrace"


@dataclass(frozen=True)
class Seen:
    """The results of a recorded run: its exit status, its output, and memtrace's report."""

    status: int
    out: str
    err: str
    text: str
    report: JsonObject

    @property
    def said(self) -> str:
        """The text of the report, or of the answer of `fit`, on one line."""
        return " ".join(self.text.split())


@dataclass(frozen=True)
class Expectation:
    """One thing that must be true. `fault` returns what was found instead, or ""."""

    words: str
    fault: Callable[[Seen], str]


@dataclass(frozen=True)
class Row:
    """A script of the corpus with its arguments, a card, and the right results.

    `first` holds the arguments of a run that comes before and is not judged. `fit` holds the options of `memtrace fit`,
    which then runs instead of `run` and `report`. `reads` is a verb that reads a file of the corpus; nothing is run
    then. `ranks` above 1 starts torchrun.
    """

    command: str
    card: str
    right: str
    expects: tuple[Expectation, ...]
    reported: str = ""
    allocator: str = OURS
    frameworks: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    first: str | None = None
    fit: str | None = None
    reads: str = ""
    ranks: int = 1
    seconds: int = 300

    @property
    def script(self) -> str:
        return self.command.split()[0]

    @property
    def arguments(self) -> list[str]:
        return self.command.split()[1:]

    @property
    def name(self) -> str:
        """A name that is unique, can be typed, and can be a folder: `c05_kbit.24GiB.native`."""
        words = [self.script.removesuffix(".py"), *self.arguments, self.card.replace("=", "-").replace(",", "-")]
        words += [self.allocator] if self.allocator != OURS else []
        words += sorted(value.replace(":", "-") for value in self.environment.values())
        words += ["fit"] if self.fit is not None else []
        return ".".join(words)


@dataclass(frozen=True)
class Elsewhere:
    """A row that another test judges, named by its path, or that nothing can judge, with the reason."""

    script: str
    right: str
    test: str = ""
    reason: str = ""


def faults(row: Row, seen: Seen) -> list[str]:
    """Returns one line for each expectation of the row that does not hold."""
    found = []
    for expectation in row.expects:
        try:
            fault = expectation.fault(seen)
        except (KeyError, TypeError, IndexError, StopIteration) as missing:
            fault = f"the report has no such value ({type(missing).__name__}: {missing})"
        if fault:
            found.append(f"expected: {expectation.words}; found: {fault}")
    return found
