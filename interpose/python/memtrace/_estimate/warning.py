# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What a callback does with an estimate: nothing if the training fits, a warning if not, never an error of its own."""

import os
import warnings
from collections.abc import Callable

from memtrace._estimate.answer import DoesNotFit, Estimate
from memtrace._signal_exceptions import let_through

# In Trainer's and Lightning's code nothing would be gained by the line.
_LEVEL = 3


def warn_unless_fits(find: Callable[[], Estimate], stop: bool) -> None:
    """Calls `find` and warns if the training does not fit, or if that cannot be said; raises DoesNotFit with `stop`.

    Does nothing with MEMTRACE=0, and in a trial of `memtrace fit`, which answers itself.
    """
    if os.environ.get("MEMTRACE") == "0" or "MEMTRACE_FIT_STEPS" in os.environ:
        return
    try:
        found = find()
    except Exception as error:
        let_through(error)
        _warn(f"memtrace cannot say whether this training fits: {error}")
        return
    if found.fits:
        return
    if stop:
        raise DoesNotFit(found)
    _warn(f"memtrace: this training {found.sentence}")


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=_LEVEL)
