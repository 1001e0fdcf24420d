# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions for programs of the tests, which print what they have seen of the card."""

from collections.abc import Callable
from typing import Any

import torch


def used() -> int:
    """Returns the bytes of the card that are in use, by whomever."""
    free, total = torch.cuda.mem_get_info()
    return total - free


def refused(call: Callable[..., Any], *arguments: Any) -> str:
    """Calls it, and returns the error that it raises: its class, and its sentence."""
    try:
        call(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"
