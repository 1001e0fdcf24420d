# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""What happens when torch is imported: the card before it, memtrace right after it."""

import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from memtrace import _card
from memtrace._package import TorchVersion, supported_torch, torch_version
from memtrace._say import say

# The exit status for "this environment cannot do what was asked" (docs/command_line.md).
EXIT_ENVIRONMENT = 5


class _TorchFinder:
    """Finds torch as Python would and wraps its execution; every other module is none of its business.

    It stays until torch is executed: programs ask for the spec of torch to see whether it is installed.
    """

    record = False  # or only the card is put in place

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch":
            return None
        spec = self._find(path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_start(module: ModuleType) -> None:
            _before(torch_version(spec))
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            if self.record:
                start(module)

        spec.loader.exec_module = execute_and_start  # type: ignore[method-assign]
        return spec

    def _find(self, path: Any, target: Any) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if finder is self or find is None else find("torch", path, target)
            if spec is not None:
                return spec
        return None


def watch(record: bool = True) -> None:
    """Waits for the first import of torch, to put the card in place before it and to record after it if asked once."""
    finder = next((finder for finder in sys.meta_path if isinstance(finder, _TorchFinder)), None)
    if finder is None:
        finder = _TorchFinder()
        sys.meta_path.insert(0, finder)
    finder.record = finder.record or record


def _before(version: TorchVersion | None) -> None:
    spec = os.environ.get("MEMTRACE_CARD")
    if not spec:
        return
    if version is None or version.cuda is None or not version.cuda.startswith("13."):
        built = "without CUDA" if version is None or version.cuda is None else f"for CUDA {version.cuda}"
        name = "this torch" if version is None else f"torch {version.full}"
        wanted = f"torch {' or '.join(supported_torch())} with CUDA 13"
        _refuse(f"the simulated card stands in for CUDA 13, but {name} was built {built}; install {wanted}")
    wrong = _card.check_spec(spec)
    if wrong:
        _refuse(wrong)
    _card.load()


def _refuse(sentence: str) -> None:
    """A card was asked for and cannot be had: going on would look for a GPU and mislead."""
    print(f"memtrace: {sentence}", file=sys.stderr, flush=True)
    sys.exit(EXIT_ENVIRONMENT)


def start(torch: ModuleType) -> bool:
    """Starts memtrace in a process that has imported torch; says why if it cannot. Never raises."""
    try:
        return _start(torch)
    except Exception as error:
        say(f"could not start ({type(error).__name__}: {error}); the program runs without it")
        return False


def _start(torch: ModuleType) -> bool:
    minor = ".".join(str(torch.__version__).split(".")[:2])
    if torch.version.cuda is None:
        say(f"torch {torch.__version__} is a CPU-only build; there is no CUDA memory to record")
        return False
    if minor not in supported_torch():
        built = ", ".join(supported_torch()) or "none"
        say(
            f"torch {torch.__version__} is not supported by this installation (built for {built}); "
            "the program runs with torch's own allocator, unrecorded"
        )
        return False
    from memtrace import _hooks, _session

    session = _session.begin(torch, minor)
    if session is not None:
        _hooks.register(torch, session)
    return True
