# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Imports the libraries of a program, then forks a run of the program for each request.

The process is the interpreter of an ordinary run, which stops before the program's first line. A forked run goes on
there, so the interpreter itself runs the program, in a process of one thread.
"""

import _socket
import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from memtrace._forks import forked_run
from memtrace._forks.request import Request, receive
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._program.user_modules import is_library
from memtrace._start import torch_import

# With this variable, torch asks NVML if there is a card. CUDA would not survive a fork once it is asked.
_ASK_NVML = "PYTORCH_NVML_BASED_CUDA_CHECK"
_STDOUT, _STDERR = 1, 2


def serve(descriptor: str) -> None:
    """Serves requests of the socket `descriptor`. Returns only in a forked run, which is to run the program.

    After an error the process ends, because Python would go on with the program.
    """
    try:
        _serve(descriptor)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _serve(descriptor: str) -> None:
    connection = _socket.socket(fileno=int(descriptor))
    del os.environ["MEMTRACE_FIT_FORKS"]
    before = dict(os.environ)
    reason = _prepare(os.environ.pop("MEMTRACE_FIT_IMPORTS", ""))
    connection.send((reason or "0").encode()[:1000])
    while not reason and (request := receive(connection)):
        if _fork(connection, request):
            connection.close()
            forked_run.become(request, before)
            return
    os._exit(0)


def _prepare(imports: str) -> str:
    """Imports the libraries. Returns why the runs would not be like those that are started; "" if they would be."""
    own = os.environ.get(_ASK_NVML)
    os.environ[_ASK_NVML] = "1"
    torch_import.wait_for_fork()
    try:
        return _users_start() or _import_all(imports) or _what_was_printed() or forked_run.why_unlike(_in_child)
    finally:
        if own is None:
            os.environ.pop(_ASK_NVML, None)
        else:
            os.environ[_ASK_NVML] = own


def _users_start() -> str:
    """Returns a reason if Python has run a file of the user's by itself, which each run would run again."""
    file = getattr(sys.modules.get("sitecustomize"), "__file__", None)
    return "" if file is None or is_library(file) else f"{file} runs first in each process"


def _import_all(imports: str) -> str:
    with open(imports, encoding="utf-8") as noted:
        libraries: list[tuple[str, str]] = json.load(noted)
    if not any(name == "torch" for name, _ in libraries):
        return "torch is not among the first imports"
    for name, file in libraries:
        try:
            module = importlib.import_module(name)
        except Exception as error:
            raise_if_from_outside(error)
            return f"{name} cannot be imported by itself ({type(error).__name__}: {error})"
        if getattr(getattr(module, "__spec__", None), "origin", None) != file:
            return f"{name} is another module if it is imported by itself"
        if name == "torch":
            forked_run.torch_is_imported()
    return ""


def _what_was_printed() -> str:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    is_printed = any(os.fstat(output).st_size > 0 for output in (_STDOUT, _STDERR))
    return "the libraries print when they are imported" if is_printed else ""


def _in_child(look: Callable[[], bool]) -> bool:
    """Returns what `look` returns in a forked child."""
    child = os.fork()
    if child == 0:
        _end_with(look)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _end_with(look: Callable[[], bool]) -> NoReturn:
    code = 1
    try:
        code = 0 if look() else 1
    finally:
        os._exit(code)


def _fork(connection: _socket.socket, request: Request) -> bool:
    """Forks a run that becomes a child of `memtrace fit`, and answers its number. True in the run."""
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        if _fork_orphan(writing):
            os.close(reading)
            os.close(writing)
            return True
        os._exit(0)
    os.close(writing)
    number = os.read(reading, 32)
    os.close(reading)
    os.waitpid(between, 0)
    os.close(request.log)
    os.close(request.mounts)
    connection.send(number or b"a process could not be forked")
    return False


def _fork_orphan(writing: int) -> bool:
    """Forks the run, which leads a process group of its own. True in the run, after its parent has ended."""
    parent = os.getpid()
    run = os.fork()
    if run == 0:
        os.setpgid(0, 0)
        forked_run.wait_for_other_parent(parent)
        return True
    os.setpgid(run, run)
    os.write(writing, str(run).encode())
    return False
