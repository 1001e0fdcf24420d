# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""memtrace: who holds the card's memory, and why it ran out.

With `memtrace run -- python train.py` nothing need be changed in a script. Without it, before CUDA is first used::

    import memtrace
    memtrace.enable()

    with memtrace.tag("edited_model"):   # an owner for what is allocated inside
        ...
    memtrace.step()                      # a training step ends here (counted by optimizer steps otherwise)

To learn if a training fits before it begins::

    print(memtrace.estimate(model, optimizer, batch, card="24GiB"))

All functions may be called from any thread; what else each requires is its thread rule. With `MEMTRACE=0` in the
environment, `enable` returns False, and `step`, `tag` and the callbacks do nothing.
"""

from memtrace._apply.api import apply
from memtrace._asleep.api import Asleep, Moved, asleep, release_host_memory, sleep, wake
from memtrace._asleep.graph_turns import graphs_take_turns
from memtrace._asleep.memory_saver import as_torch_memory_saver
from memtrace._asleep.models import movable
from memtrace._estimate.answer import DoesNotFit, Estimate
from memtrace._estimate.api import check_fit, estimate, largest_batch
from memtrace._public.api import enable, pluggable_library, release_failed_attempt, step, tag
from memtrace._public.spilled import Pressure, on_pressure
from memtrace._start.card import simulated_card

__version__ = "0.1.0"
__all__ = [
    "Asleep",
    "DoesNotFit",
    "Estimate",
    "Moved",
    "Pressure",
    "apply",
    "as_torch_memory_saver",
    "asleep",
    "check_fit",
    "enable",
    "estimate",
    "graphs_take_turns",
    "largest_batch",
    "movable",
    "on_pressure",
    "pluggable_library",
    "release_failed_attempt",
    "release_host_memory",
    "simulated_card",
    "sleep",
    "step",
    "tag",
    "wake",
]
