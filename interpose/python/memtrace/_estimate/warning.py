# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The reaction of a callback to an estimate: a warning if the training does not fit, never an error of its own."""

import os
import warnings
from collections.abc import Callable

from memtrace._estimate.answer import DoesNotFit, Estimate
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._start.off import is_off

# The stack level of the warning: a line in Trainer's or Lightning's code would not help.
_LEVEL = 3


def warn_unless_fits(find: Callable[[], Estimate], stop: bool) -> None:
    """Calls `find` and warns if the training does not fit or that is not known; raises DoesNotFit with `stop`.

    Does nothing with MEMTRACE=0, and in a trial of `memtrace fit`, which answers the question itself.
    """
    if is_off() or "MEMTRACE_FIT_STEPS" in os.environ:
        return
    try:
        found = find()
    except Exception as error:
        raise_if_from_outside(error)
        _warn(f"memtrace could not find out if this training fits: {error}")
        return
    if found.fits:
        return
    if stop:
        raise DoesNotFit(found)
    _warn(f"memtrace: {found.sentence}")


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=_LEVEL)
