# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What remedies depend on in a call of an outermost module: autocast that keeps casts, the number of examples."""

from types import ModuleType
from typing import Any

from memtrace._session import Session


class CallFacts:
    """Writes `forward.autocast_cache` and `forward.batch` when they change."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._written: dict[str, str] = {}

    def see(self, args: Any, kwargs: Any) -> None:
        """Looks at a call with these arguments."""
        torch = self._torch
        keeps = torch.is_autocast_enabled() and torch.is_autocast_cache_enabled()
        if keeps or "forward.autocast_cache" in self._written:
            self._write("forward.autocast_cache", str(int(keeps)))
        batch = self._batch(args, kwargs)
        if batch is not None:
            self._write("forward.batch", str(batch))

    def _batch(self, args: Any, kwargs: Any) -> int | None:
        """The first size of the first tensor of two or more; nothing if there is none."""
        for value in (*args, *kwargs.values()):
            if isinstance(value, self._torch.Tensor) and value.dim() > 1:
                return int(value.shape[0])
        return None

    def _write(self, key: str, value: str) -> None:
        if self._written.get(key) != value:
            self._written[key] = value
            self._session.core.annotate(key, value)
