# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Adds the reason to torch's own out-of-memory error if torch's own allocator is observed.

With memtrace's allocator the error has it from the start. torch makes its own error, whose text gets the explanation
when the exception is constructed.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches
from memtrace._patching.signal_exceptions import raise_if_from_outside

if TYPE_CHECKING:
    from memtrace._core.c_abi import Core


def explain(torch: ModuleType, core: Core) -> None:
    """Makes each later `torch.OutOfMemoryError` end with memtrace's explanation, if there is one for it."""
    begin = torch.OutOfMemoryError.__init__

    @functools.wraps(begin)
    def begin_with_explanation(error: BaseException, *args: object, **named: object) -> None:
        begin(error, *args, **named)
        try:
            explanation = core.take_explanation()
            if explanation and len(args) == 1 and isinstance(args[0], str):
                error.args = (f"{args[0].rstrip()}\n{explanation}",)
        except Exception as wrong:  # torch's own error is more important
            raise_if_from_outside(wrong)

    patches.put(
        torch.OutOfMemoryError,
        "__init__",
        begin_with_explanation,
        "torch.OutOfMemoryError.__init__: adds why memory ran out if torch's own allocator is observed",
    )
