# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sets `foreach=False`: tensors are updated one by one, so that no list of temporary copies exists."""

from types import ModuleType

from memtrace._changes._change import Change
from memtrace._changes._optimizer_arguments import Arguments, adapt
from memtrace._changes._program_line import program_line
from memtrace._process.session import Session


def watch(torch: ModuleType, _session: Session, change: Change) -> None:
    """Applies from now on. A fused optimizer has no such list and stays as it is."""

    def loop(arguments: Arguments) -> None:
        has_list = not arguments.get("fused") and arguments.get("foreach") is not False
        if has_list and change.found_and_made(type(arguments["self"]).__name__, program_line()):
            arguments["foreach"] = False

    adapt(torch, "foreach", loop)
