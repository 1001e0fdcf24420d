# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The sentences of sleep and wake that could not be done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from memtrace._asleep.core_calls import MovedStruct, Refusal, sleep_core
from memtrace._text.messages import counted, translated

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNITS = (("GiB", 30), ("MiB", 20), ("KiB", 10))


def amount_text(amount: int) -> str:
    """Returns an amount with a unit: "14.0 GiB", "3.5 MiB"."""
    unit, bits = next(((unit, bits) for unit, bits in _UNITS if amount >> bits), _UNITS[-1])
    return f"{amount / (1 << bits):.1f} {unit}"


def check_allocator(call: str) -> None:
    """Raises RuntimeError if memtrace's allocator does not serve this process."""
    from memtrace._process.session import current_session

    session = current_session()
    if session is None or session.allocator != "memtrace":
        raise RuntimeError(
            translated("$0 needs memtrace's allocator; torch's own serves this process.", f"memtrace.{call}")
        )


def unknown(call: str, name: str, names: Iterable[str]) -> ValueError:
    """Returns the error of a name that no movable memory has."""
    known = ", ".join(sorted(names))
    if known:
        return ValueError(
            translated("memtrace.$0: no memory has the movable tag '$1'. Movable tags: $2.", call, name, known)
        )
    return ValueError(translated("memtrace.$0: no memory has the movable tag '$1'.", call, name))


def in_capture() -> RuntimeError:
    """Returns the error of a sleep within the capture of a graph."""
    return RuntimeError(translated("memtrace.sleep: a graph is being captured. Call it after the capture."))


def of_sleep(name: str, moved: MovedStruct) -> Exception:
    """Returns the error of a sleep that was refused."""
    if moved.refusal == Refusal.UNKNOWN:
        return unknown("sleep", name, sleep_core().owners())
    if moved.refusal == Refusal.ASLEEP:
        return RuntimeError(translated("memtrace.sleep: '$0' is already asleep. Call memtrace.wake('$0') first.", name))
    if moved.refusal == Refusal.CAPTURE:
        return in_capture()
    if moved.refusal == Refusal.SHARED:
        return RuntimeError(
            counted(
                moved.shared_blocks,
                "memtrace.sleep: another process has opened a block of '$0', which keeps its memory. "
                "Free the block first.",
                "memtrace.sleep: other processes have opened $1 blocks of '$0', which keep their memory. "
                "Free the blocks first.",
                name,
                moved.shared_blocks,
            )
        )
    if moved.refusal == Refusal.NO_ROOM:
        return RuntimeError(
            translated(
                "memtrace.sleep: the copy of '$0' needs $1; the host's limit leaves $2.",
                name,
                amount_text(moved.needed),
                amount_text(moved.available),
            )
        )
    return RuntimeError(f"memtrace.sleep: {sleep_core().last_error()}")


def of_wake(name: str, moved: MovedStruct) -> Exception:
    """Returns the error of a wake that was refused."""
    if moved.refusal == Refusal.UNKNOWN:
        owners = sleep_core().owners()
        if name in owners:
            return RuntimeError(translated("memtrace.wake: '$0' is not asleep.", name))
        return unknown("wake", name, owners)
    if moved.refusal == Refusal.NO_ROOM:
        sentence = translated(
            "memtrace.wake: '$0' needs $1; the card has $2. It stays asleep.",
            name,
            amount_text(moved.needed),
            amount_text(moved.available),
        )
        kind: type[Exception] = getattr(sys.modules.get("torch"), "OutOfMemoryError", RuntimeError)
        return kind(sentence)
    return RuntimeError(f"memtrace.wake: {sleep_core().last_error()}")
