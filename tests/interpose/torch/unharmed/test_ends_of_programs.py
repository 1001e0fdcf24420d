# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A program ends with its own exit status, also where a plain torch would abort it."""

import os
from pathlib import Path

from support.programs import on_card

SLOW_ANNOUNCEMENTS = Path(os.environ["MEMTRACE_BUILD"]) / "tests/interpose/torch/libslow_announcements.so"

# The hook runs on autograd's thread, which from there on is slow whenever it has woken another thread.
FAILING_BACKWARD = """
import ctypes, torch
slow = ctypes.CDLL({library!r})
x = torch.ones(8, device="cuda", requires_grad=True)
y = x * 2
def fail(gradient):
    slow.slow_announcements()
    raise ValueError("the program's own")
y.register_hook(fail)
y.sum().backward()
"""


def test_exception_in_backward_ends_a_program_with_status_1_on_a_busy_machine(tmp_path: Path) -> None:
    script = FAILING_BACKWARD.format(library=str(SLOW_ANNOUNCEMENTS))
    finished = on_card(script, tmp_path, expect=1, LD_PRELOAD=str(SLOW_ANNOUNCEMENTS))
    assert finished.err.rstrip().endswith("ValueError: the program's own")
