# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Put first on PYTHONPATH by `memtrace run`: switches memtrace on when torch is imported, then runs the user's own.

Programs that use CUDA without torch get the simulated card when they import the first package that needs a driver.
Without `memtrace run`, the variable MEMTRACE loads this file (memtrace.pth) and has the options.

With MEMTRACE_RECORD=0 (from `memtrace.simulated_card`) the card comes with torch and nothing is recorded.
"""

import os
import sys

# These are the origins of importlib.machinery and importlib.util, whose import would take 2 ms: every Python that
# starts under memtrace comes here, most of them without torch. (Annotations are quoted for the same reason, and for old
# interpreters.)
from _frozen_importlib import ModuleSpec, module_from_spec
from _frozen_importlib_external import PathFinder, SourceFileLoader

_here = os.path.dirname(os.path.abspath(__file__))
_home = os.path.dirname(_here)

# Packages that look for a driver and go on without a card if there is none: they must find the simulated one.
_ASK_FOR_A_DRIVER = frozenset(
    (
        "ctranslate2",
        "cuda",
        "cudf",
        "cuml",
        "cupy",
        "cupy_backends",
        "jax",
        "jaxlib",
        "llama_cpp",
        "mxnet",
        "numba",
        "onnxruntime",
        "paddle",
        "pycuda",
        "pynvml",
        "rmm",
        "tensorflow",
        "tensorrt",
        "warp",
    )
)


class _Beginning:
    """Loads memtrace when torch is first looked for, because other programs do not need its modules.

    It stays in sys.meta_path: if it left while Python iterates over that, Python would skip the next finder.
    """

    _is_over = False
    _has_card = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """Called by Python for each entry of sys.meta_path."""
        if name == "memtrace":
            return self._package(name)
        if name in _ASK_FOR_A_DRIVER and not self._has_card:
            self._has_card = True
            self._load_card()
        if name != "torch" or self._is_over:
            return None
        self._is_over = True
        first = sys.meta_path[0]
        try:
            self._switch_on()
        except Exception as error:
            self._raise_if_from_outside(error, sys._getframe())
            print(f"memtrace: memtrace could not start ({error}). The program runs without it.", file=sys.stderr)
        watch = sys.meta_path[0]
        # A finder that was just inserted before this one has not been called.
        return None if watch is first else watch.find_spec(name, path, target)  # type: ignore[arg-type]

    @staticmethod
    def _raise_if_from_outside(error: Exception, caller: object) -> None:
        try:
            from memtrace._patching import signal_exceptions
        except ImportError:  # the package itself could not start
            return
        signal_exceptions.raise_if_from_outside(error, caller)  # type: ignore[arg-type]

    @staticmethod
    def _package(name: str) -> ModuleSpec:
        # It is loaded by path: the interpreter that runs the script may not be the one that memtrace is installed for.
        init = os.path.join(_home, "__init__.py")
        loader = SourceFileLoader(name, init)
        spec = ModuleSpec(name, loader, origin=init, is_package=True)
        spec.submodule_search_locations = [_home]
        spec.has_location = True
        return spec

    @staticmethod
    def _load_card() -> None:
        if not os.environ.get("MEMTRACE_CARD"):
            return
        import memtrace

        memtrace._start.torch_import.load_card()

    @staticmethod
    def _switch_on() -> None:
        import memtrace

        if os.environ.get("MEMTRACE_RECORD") == "0":
            memtrace._start.torch_import.watch(record=False)
        else:
            memtrace.enable()


def _translate_variable() -> None:
    """Translates the variable MEMTRACE into the variables that `memtrace run` sets."""
    wanted = os.environ.get("MEMTRACE", "")
    if "MEMTRACE_HOME" in os.environ or wanted in ("", "0", "1"):
        return
    if wanted == "observe":
        os.environ.setdefault("MEMTRACE_ALLOCATOR", "native")
    else:
        os.environ.setdefault("MEMTRACE_CARD", wanted)


def _protect_users_files() -> None:
    """Protects the user's files in a trial of `memtrace fit`, from the first line on, or the program does not start."""
    from memtrace import _scratch

    _scratch.start_from_environment()


def _fork_runs_or_note_imports() -> None:
    """Forks runs of `memtrace fit`, returning in each of them, or notes what they may import before that."""
    if (descriptor := os.environ.get("MEMTRACE_FIT_FORKS", "")) not in ("", "0", "1"):
        from memtrace._forks import server

        server.serve(descriptor)
    elif file := os.environ.get("MEMTRACE_FIT_IMPORTS"):
        from memtrace._forks import noted_imports

        noted_imports.begin(file)


def _run_stub(stub: str) -> None:
    """Runs the user's stub in a trial with --stub, which replaces what the program would get from elsewhere."""
    import runpy

    runpy.run_path(stub, run_name="__memtrace_stub__")


def _run_users_sitecustomize() -> None:
    elsewhere = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module  # imports of it get the user's
        spec.loader.exec_module(module)


_translate_variable()
if os.environ.get("MEMTRACE") != "0":
    sys.meta_path.insert(0, _Beginning())
    if os.environ.get("MEMTRACE_FIT_SAVES") or os.environ.get("MEMTRACE_FIT_SCRATCH"):
        _protect_users_files()
_run_users_sitecustomize()
if os.environ.get("MEMTRACE") != "0":
    _fork_runs_or_note_imports()
if os.environ.get("MEMTRACE") != "0" and os.environ.get("MEMTRACE_FIT_STUB"):
    _run_stub(os.environ["MEMTRACE_FIT_STUB"])
