# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a forked process what a run that is started would be: its files, variables, command and session."""

import ctypes
import os
import sys
import time
from collections.abc import Callable
from types import ModuleType

from memtrace import _scratch
from memtrace._core.package import CARD
from memtrace._forks.rebinding import rebinding
from memtrace._forks.request import Request
from memtrace._process.session import current_session
from memtrace._start import torch_import

_STDOUT, _STDERR = 1, 2
_CLONE_NEWNS = 0x00020000  # <sched.h>
_CAPABILITY_VERSION = 0x20080522  # <linux/capability.h>
_WAIT = 0.0002  # seconds

_with_torch = 0  # modules that were imported before torch's import ended


def wait_for_other_parent(parent: int) -> None:
    """Returns once `parent`, which is about to end, is no longer the parent of this process."""
    while os.getppid() == parent:
        time.sleep(_WAIT)


def why_unlike(in_child: Callable[[Callable[[], bool]], bool]) -> str:
    """Returns why a fork of this process could not run the program; "" if it could."""
    if current_session() is None:
        return "memtrace has not started"
    if not _reads_cards_again():
        return "a library uses CUDA when it is imported"
    if not in_child(_parent_has_one_thread):
        return "a library starts threads when it is imported"
    return ""


def _reads_cards_again() -> bool:
    """Reads MEMTRACE_CARD again. False if CUDA has been asked for cards, also if a parent did so."""
    driver = ctypes.CDLL(str(CARD / "libcuda.so.1"))
    return int(driver.memtrace_card_read_again()) == 0


def _parent_has_one_thread() -> bool:
    """True if the parent has one thread, once its libraries have ended theirs for the fork."""
    return len(os.listdir(f"/proc/{os.getppid()}/task")) == 1


def become(request: Request, before: dict[str, str]) -> None:
    """Enters the run's files and takes over its variables and command; the variables were `before` at first."""
    _enter(request)
    _give_up_rights()
    _set_variables(request.environment, before)
    _open_ledger()
    script = len(sys.orig_argv) - len(sys.argv)
    sys.orig_argv[:] = request.words
    sys.argv[:] = request.words[script:]
    _forget_temporary_folder()
    _draw_anew()
    _scratch.list_saves_in(os.environ.get("MEMTRACE_FIT_SAVES", ""))
    _reads_cards_again()
    torch = sys.modules["torch"]
    with rebinding((torch, sys.modules["torch.nn.functional"]), _imported_after_torch()):
        torch_import.start_forked_run(torch)


def torch_is_imported() -> None:
    """Notes that the modules of `sys.modules` were imported before any change could be made."""
    global _with_torch
    _with_torch = len(sys.modules)


def _imported_after_torch() -> list[ModuleType]:
    later = [sys.modules[name] for name in list(sys.modules)[_with_torch:]]
    return [module for module in later if isinstance(module, ModuleType)]


def _enter(request: Request) -> None:
    os.dup2(request.log, _STDOUT)
    os.dup2(request.log, _STDERR)
    os.close(request.log)
    is_elsewhere = os.readlink(f"/proc/self/fd/{request.mounts}") != os.readlink("/proc/self/ns/mnt")
    if is_elsewhere and ctypes.CDLL(None, use_errno=True).setns(request.mounts, _CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused the layer of the run")
    os.close(request.mounts)
    os.chdir(request.folder)


def _give_up_rights() -> None:
    """Gives up the rights that the process kept to enter the layer, as file_layer.cc says. Root keeps all."""
    if os.geteuid() == 0:
        return
    header, rights = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(header, rights) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused to take rights from the run")


def _open_ledger() -> None:
    """Opens the file by which the run's processes see what each holds on the cards: one that they can reach."""
    if "MEMTRACE_CARD_SHARED" in os.environ:
        ledger = os.memfd_create("memtrace-card", 0)
        os.environ["MEMTRACE_CARD_SHARED"] = f"/proc/{os.getpid()}/fd/{ledger}"


def _set_variables(wanted: dict[str, str], before: dict[str, str]) -> None:
    """Changes those that differ from the ones at first; keeps what libraries have set since."""
    for name in before.keys() - wanted.keys():
        os.environ.pop(name, None)
    for name, value in wanted.items():
        if before.get(name) != value:
            os.environ[name] = value


def _forget_temporary_folder() -> None:
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile.tempdir = None  # type: ignore[attr-defined]  # so that it is computed again


def _draw_anew() -> None:
    """Seeds numpy's global generator anew, as each process does when it imports numpy. Python seeds its own."""
    random = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()
