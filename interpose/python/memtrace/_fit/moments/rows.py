# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The moments of the job that this process has had, and the steps of the trace that belong to each: `fit.moments`."""

import contextlib
import json
import sys
import threading
from collections.abc import Generator

from memtrace._core.vocabulary import FIT_MOMENTS
from memtrace._fit import gaps
from memtrace._process.session import Session

_MOST_ROWS = 200  # each change writes all of them


class Row:
    """A stay in one moment."""

    def __init__(self, moment: str, first: int) -> None:
        self.moment = moment  # a word of moments.def
        self.first = first  # step of the trace
        self.last = first
        self.known: dict[str, object] = {}  # what is known beside the steps; facts.def lists it

    def as_list(self) -> list[object]:
        """Returns the row as the fact has it."""
        return [self.moment, self.first, self.last, *([self.known] if self.known else [])]


class Rows:
    """Writes the fact whenever a moment begins or ends, so that a process that is killed has said where it was.

    Thread rule: the program's first thread.
    """

    def __init__(self, session: Session) -> None:
        """Starts without moments."""
        self._session = session
        self._rows: list[Row] = []
        self._open: list[Row] = []
        self._thread = threading.get_ident()

    def is_in(self, moment: str) -> bool:
        """True if the program is in this moment now."""
        return any(row.moment == moment for row in self._open)

    def has(self, moment: str) -> bool:
        """True if the program has had this moment, or is in it."""
        return any(row.moment == moment for row in self._rows)

    def open_row(self, moment: str) -> Row | None:
        """Returns the row of the moment that the program is in; None if it is in another."""
        return next((row for row in self._open if row.moment == moment), None)

    def count(self, moment: str) -> int:
        """Returns how often the program has begun this moment."""
        return sum(row.moment == moment for row in self._rows)

    @contextlib.contextmanager
    def during(self, moment: str) -> Generator[Row | None, None, None]:
        """Gives the moment steps of its own, as `begin` and `finish` do."""
        row = self.begin(moment)
        try:
            yield row
        except BaseException as error:
            self.finish(row, type(error).__name__)
            raise
        self.finish(row)

    def begin(self, moment: str) -> Row | None:
        """Begins a moment with a step of its own. `finish` must follow with what this returns.

        Does nothing within the same moment, because frameworks call their own functions, and after 200 rows.
        """
        if self.is_in(moment) or len(self._rows) >= _MOST_ROWS or threading.get_ident() != self._thread:
            return None
        self._session._begin_step()
        row = Row(moment, self._session.step_number)
        self._rows.append(row)
        self._open.append(row)
        self._write()
        return row

    def finish(self, row: Row | None, ended_by: str = "") -> None:
        """Ends the moment, and closes its gap unless an exception of the class `ended_by` ended it.

        Moments that began within it and have not ended also end here. A second call does nothing.
        """
        if row is None or row not in self._open:
            return
        for inner in self._open[self._open.index(row) :]:
            inner.last = self._session.step_number
            if ended_by:
                inner.known["ended_by"] = ended_by
            else:
                gaps.close_gap(inner.moment)
        del self._open[self._open.index(row) :]
        self._write()
        if not ended_by:
            self._session._begin_step()

    def finish_all(self, ended_by: str) -> None:
        """Ends all moments, because the program ends."""
        if self._open:
            self.finish(self._open[0], ended_by)

    def of_this_step(self, moment: str, **known: object) -> None:
        """Notes that the current step belongs to the moment, with what is known of it. Closes its gap."""
        step = max(self._session.step_number, 1)
        latest = next((row for row in reversed(self._rows) if row.moment == moment), None)
        if latest is None or latest.last < step - 1 or latest.known != known:
            latest = Row(moment, step)
            latest.known = known
            self._rows.append(latest)
        latest.last = step
        gaps.close_gap(moment)
        self._write()

    def of_steps(self, moment: str, first: int, last: int) -> None:
        """Notes that these steps belong to the moment, and the exception that ended the program in the last of them."""
        row = Row(moment, first)
        row.last = last
        error = getattr(sys, "last_value", None)
        if error is not None and self._session.step_number <= last:
            row.known["ended_by"] = type(error).__name__
        self._rows.append(row)
        self._write()

    def since_step(self, moment: str, first: int, ended_by: str = "") -> None:
        """Notes that all steps from `first` up to now belong to the moment. Closes its gap as `finish` does."""
        row = Row(moment, first)
        self._rows.append(row)
        self._open.append(row)
        self.finish(row, ended_by)

    def _write(self) -> None:
        rows = [row.as_list() for row in self._rows]
        self._session.core.annotate(FIT_MOMENTS, json.dumps(rows, separators=(",", ":")))
