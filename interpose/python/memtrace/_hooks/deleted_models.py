# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that outlive their models: something holds them, such as the graph of an output that is kept."""

from collections import Counter
from types import ModuleType

from memtrace._core.vocabulary import DELETED_MODELS
from memtrace._process.session import Session


def watch(_torch: ModuleType, session: Session) -> None:
    """Annotates their bytes on each card whenever everything is labelled: at an out-of-memory and at the end."""
    session.with_labels.append(_DeletedModels(session).annotate)


class _DeletedModels:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._stated: set[int] = set()  # cards

    def annotate(self) -> None:
        """States them; replaces earlier statements."""
        bytes_on: Counter[int] = Counter()
        for tensor in self._session.labels.of_deleted_models():
            if tensor.is_cuda:
                bytes_on[tensor.device.index] += tensor.numel() * tensor.element_size()
        self._stated.update(bytes_on)
        for card in sorted(self._stated):
            self._session.core.annotate(f"{DELETED_MODELS}.{card}", str(bytes_on[card]))
