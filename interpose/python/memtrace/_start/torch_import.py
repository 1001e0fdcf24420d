# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the card in place before torch is imported, and starts memtrace right after."""

import os
from importlib.machinery import ModuleSpec
from types import ModuleType

from memtrace._core.package import minor_of, supported_torch, torch_version
from memtrace._patching.import_watch import ImportWatch
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._start import card, kernel_choice, torch_history, unfit_torch
from memtrace._text.say import refuse, say

_is_recorded = False  # if false, only the card is put in place
_is_forked_later = False  # this process forks the runs of a trial, which it does not begin itself


def watch(record: bool = True) -> None:
    """Waits for the first import of torch: the card comes before it, recording after it if any call requested that."""
    global _is_recorded
    _is_recorded = _is_recorded or record
    _TORCH.begin()


def _load_card_before_torch(torch: ModuleSpec) -> None:
    if not os.environ.get("MEMTRACE_CARD"):
        return
    version = torch_version(torch)
    majors = card.cuda_majors()
    major = None if version is None else version.cuda_major
    if major not in majors:
        built = "without CUDA" if version is None or version.cuda is None else f"for CUDA {version.cuda}"
        name = "this torch" if version is None else f"torch {version.full}"
        cuda = " or ".join(majors)
        refuse(
            f"The simulated card is for CUDA {cuda}, but {name} was built {built}. "
            f"Install torch {' or '.join(supported_torch())} with CUDA {cuda}."
        )
    _load_card_or_exit(major)
    kernel_choice.shorten()
    if os.environ.get("MEMTRACE_REAL_RANKS"):
        from memtrace import _virtual_ranks

        _virtual_ranks.watch()


def load_card() -> None:
    """Loads the card that MEMTRACE_CARD describes, or ends the program with a sentence. A second call does nothing.

    It stands in for the CUDA of the torch that the program may import; without torch, for all versions that it
    supports.
    """
    _load_card_or_exit(card.cuda_major_of_torch())


def _load_card_or_exit(cuda_major: str | None) -> None:
    try:
        wrong = card.check_spec(os.environ["MEMTRACE_CARD"])
        if not wrong:
            card.load(cuda_major)
    except RuntimeError as error:
        raise_if_from_outside(error)
        wrong = str(error)
    if wrong and os.environ.get("MEMTRACE") == os.environ["MEMTRACE_CARD"]:
        wrong += (
            " (MEMTRACE is 1 to do as memtrace run does, observe to keep torch's allocator, or a card such as 24GiB.)"
        )
    if wrong:
        refuse(wrong)


def _start_if_recorded(torch: ModuleType) -> None:
    if _is_recorded:
        start(torch)


_TORCH = ImportWatch("torch", before=_load_card_before_torch, after=_start_if_recorded)


def start(torch: ModuleType) -> bool:
    """Starts memtrace in a process that has imported torch; says why if that fails. Never raises."""
    try:
        return _start(torch)
    except Exception as error:
        raise_if_from_outside(error)
        say(f"memtrace could not start ({type(error).__name__}: {error}). The program runs without it.")
        return False


def _start(torch: ModuleType) -> bool:
    version = str(torch.__version__)
    other = unfit_torch.without_cuda(torch)
    if other:
        say(other)
        return False
    reason = unfit_torch.without_shim(version, supported_torch())
    if reason:
        torch_history.record(torch, reason)
        return False
    from memtrace._apply import started as changes
    from memtrace._hooks import registration
    from memtrace._process.session import begin_session

    if changes.is_wanted():
        changes.check_or_exit()
    try:
        session = begin_session(torch, minor_of(version))
    except OSError as error:
        raise_if_from_outside(error)
        torch_history.record(torch, unfit_torch.not_loaded(version, error))
        return False
    if session is not None and os.environ.get("MEMTRACE_AS_TORCH_MEMORY_SAVER") == "1":
        from memtrace._asleep.memory_saver import as_torch_memory_saver

        as_torch_memory_saver()
    if session is not None and (session.is_recorded or changes.is_wanted()):
        registration.register(torch, session)
        if changes.is_wanted():
            changes.start(torch, session)
        if not _is_forked_later and any(name.startswith("MEMTRACE_FIT_") for name in os.environ):
            from memtrace import _fit

            _fit.start(torch, session)
    return True


def wait_for_fork() -> None:
    """Leaves out what directs one run of `fit`: this process only imports, and each run that it forks has its own."""
    global _is_forked_later
    _is_forked_later = True


def start_forked_run(torch: ModuleType) -> None:
    """Starts in a forked run what `wait_for_fork` left out."""
    from memtrace import _fit
    from memtrace._process.session import current_session

    session = current_session()
    if session is not None:
        session.state_facts()
        _fit.start(torch, session)
