# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Put first on PYTHONPATH by `memtrace run`: switches memtrace on when torch is imported, then runs the user's own.

With MEMTRACE_RECORD=0 (from `memtrace.simulated_card`) the card comes with torch and nothing is recorded.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _load(name: str, path: str, package: str | None) -> None:
    places = [package] if package else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=places)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]  # as Python does: nobody must import a half of it
            raise


def _switch_on() -> None:
    if os.environ.get("MEMTRACE") == "0":
        return
    home = os.path.dirname(_here)
    try:
        # By its path: the interpreter that runs the script need not be the one memtrace is installed for.
        _load("memtrace", os.path.join(home, "__init__.py"), home)
        if os.environ.get("MEMTRACE_RECORD") == "0":
            sys.modules["memtrace"]._torch_import.watch(record=False)
        else:
            sys.modules["memtrace"].enable()
    except Exception as error:
        print(f"memtrace: could not start ({error}); the program runs without it", file=sys.stderr)


def _run_the_users_own() -> None:
    elsewhere = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module  # whoever imports it gets the user's
        spec.loader.exec_module(module)


_switch_on()
_run_the_users_own()
