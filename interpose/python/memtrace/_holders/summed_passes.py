# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Passes that wait for one backward, summed up or handed on from one to the next. Autograd keeps all their graphs."""

from __future__ import annotations

import os
import types
from types import FrameType
from typing import TYPE_CHECKING, Any

from memtrace._core.vocabulary import PASSES_SUMMED
from memtrace._holders.accumulating_loops import AccumulatingLoop, loop_at
from memtrace._holders.named_values import attributes, local_values
from memtrace._holders.unread_names import is_function
from memtrace._holders.user_source import tree_of
from memtrace._process.graphs import graph_of
from memtrace._process.session import Session
from memtrace._program.users_frames import all_frames, names_are_recorded

if TYPE_CHECKING:
    from torch.autograd.graph import Node

_MOST_FRAMES = 20
_MOST_SUMMANDS = 10_000


def watch(torch: types.ModuleType, session: Session) -> None:
    """Looks at an out-of-memory."""
    if names_are_recorded():
        session.at_failure.append(_SummedPasses(torch, session).look)


class _SummedPasses:
    def __init__(self, torch: types.ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._stated = ""

    def look(self) -> None:
        """States name, line of the loop, line of the backward and finished passes, separated by tabs.

        The number is 0 for passes that hand a value on, because its graph does not show where one ends.
        """
        texts = [text for frame in all_frames()[:_MOST_FRAMES] if (text := self._text(frame))]
        text = texts[0] if texts else ""
        if text or self._stated:  # takes back earlier findings
            self._session.core.annotate(PASSES_SUMMED, text)
        self._stated = text

    def _text(self, frame: FrameType) -> str:
        found = _loop_of(frame.f_code.co_filename, frame.f_lineno)
        passes = self._passes(_value(frame, found.name)) if found else 0
        if found is None or passes == 0:
            return ""
        if found.hands_on:
            passes = 0
        file = os.path.basename(frame.f_code.co_filename)
        return f"{found.name}\t{file}:{found.loop}\t{file}:{found.backward}\t{passes}"

    def _passes(self, value: object) -> int:
        """Counts the summands that have graphs."""
        if type(value) is list:
            return sum(self._graph(each) is not None for each in value[:_MOST_SUMMANDS])
        node = self._graph(value)
        return _summands(node) if node is not None else 0

    def _graph(self, value: Any) -> Node | None:  # any object of the program
        return graph_of(value) if type(value) is self._torch.Tensor and value.is_cuda else None


def _summands(node: Node) -> int:
    """Counts sums that were added to one after the other."""
    count = 0
    while type(node).__name__ == "AddBackward0" and count < _MOST_SUMMANDS:
        count += 1
        node = node.next_functions[0][0]
    return max(count, 1)


def _loop_of(path: str, line: int | None) -> AccumulatingLoop | None:
    tree = tree_of(path)
    return loop_at(tree, line) if tree is not None and line is not None else None


def _value(frame: FrameType, name: str) -> object:
    """Returns the value of "loss" or "self.loss" in the frame; None if it is not bound."""
    first, *rest = name.split(".")
    variables = dict(local_values(frame)) if is_function(frame.f_code) else frame.f_globals
    value = variables.get(first)
    for part in rest:
        value = attributes(value).get(part)
    return value
