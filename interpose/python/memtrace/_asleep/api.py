# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The functions about sleeping memory that a program calls."""

from __future__ import annotations

import gc
from typing import NamedTuple

from memtrace._asleep import refusals
from memtrace._asleep.core_calls import Keep, Refusal, sleep_core
from memtrace._start.off import is_off
from memtrace._text.messages import translated
from memtrace._text.say import say

_KEEPS = {"host": Keep.HOST, "nothing": Keep.NOTHING}


class Moved(NamedTuple):
    """The bytes that `memtrace.sleep` or `memtrace.wake` moved, summed over the cards of the process.

    Example:
        >>> import memtrace, torch
        >>> with memtrace.tag("draft", movable=True):
        ...     draft = torch.ones(1 << 20, device="cuda")
        >>> memtrace.sleep("draft", keep="nothing")
        Moved(card_bytes=4194304, host_bytes=0)
        >>> moved = memtrace.wake("draft")
    """

    card_bytes: int  # taken off the cards, or brought back
    host_bytes: int  # of the host that the copy takes


class Asleep(NamedTuple):
    """An owner whose memory sleeps.

    Example:
        >>> import memtrace, torch
        >>> with memtrace.tag("judge", movable=True):
        ...     judge = torch.ones(1 << 20, device="cuda")
        >>> moved = memtrace.sleep("judge", keep="nothing")
        >>> memtrace.asleep()["judge"]
        Asleep(keep='nothing', card_bytes=4194304, host_bytes=0)
        >>> moved = memtrace.wake("judge")
    """

    keep: str  # "host" or "nothing"
    card_bytes: int  # that a wake will map
    host_bytes: int  # of the host that the copy takes


def _is_capturing() -> bool:
    """Returns True if a graph is being captured from the current stream.

    The allocator itself knows only of captures whose stream has allocated memory.
    """
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def sleep(tag: str, keep: str = "host") -> Moved:
    """Takes the memory of a movable tag off the card, after all work of the card. Its addresses stay reserved.

    The memory is what was allocated inside `memtrace.tag(tag, movable=True)`, or moved by `memtrace.movable`. Tensors
    stay valid objects, and may be freed; they must not be used before `memtrace.wake(tag)`. Nothing can be allocated
    under the tag meanwhile. Figures such as `torch.cuda.memory_allocated()` leave out what sleeps.

    Thread rule: any thread. No thread may use the memory during the call.

    Args:
        tag: The name of the tag.
        keep: "host" copies the contents to page-locked memory of the host, for the wake. "nothing" keeps nothing: the
            memory is zero after the wake. `MEMTRACE_HOST_LIMIT` bounds the host's memory.

    Returns:
        How many bytes left the card, and how many the copy takes of the host.

    Raises:
        ValueError: If no memory has the movable tag, or `keep` is another word.
        RuntimeError: If the tag is asleep already, a graph is being captured, another process has opened a block of
            it, the host has no room for the copy, or memtrace's allocator does not serve the process. Nothing has
            changed then.

    Example:
        >>> import memtrace, torch
        >>> with memtrace.tag("policy", movable=True):
        ...     policy = torch.ones(1 << 20, device="cuda")
        >>> memtrace.sleep("policy").card_bytes
        4194304
        >>> memtrace.wake("policy").card_bytes
        4194304
    """
    if keep not in _KEEPS:
        raise ValueError(translated("memtrace.sleep: keep is 'host' or 'nothing', not '$0'.", keep))
    if is_off():
        return Moved(0, 0)
    refusals.check_allocator("sleep")
    if _is_capturing():
        raise refusals.in_capture()
    moved = sleep_core().sleep(tag, _KEEPS[keep])
    if moved.refusal != Refusal.NONE:
        raise refusals.of_sleep(tag, moved)
    if not moved.is_pinned:
        say(translated("The host refuses to pin memory, so copies of sleeping memory are slower."))
    if moved.has_graph:
        from memtrace._asleep.graph_turns import watch_replays

        watch_replays()
        say(translated("memtrace.sleep: a graph uses '$0'; it must not be replayed before the wake.", tag))
    return Moved(moved.bytes, moved.host_bytes)


def wake(tag: str) -> Moved:
    """Brings the memory of a tag back to the card, at the same addresses, with its contents or zeros.

    If the card has too little room, free memory of the allocator is given up first, then Python's garbage is collected.

    Thread rule: any thread.

    Args:
        tag: The name of the tag.

    Returns:
        How many bytes came back to the card.

    Raises:
        ValueError: If no memory has the movable tag.
        RuntimeError: If the tag is not asleep.
        torch.OutOfMemoryError: If the card has no room. The tag stays asleep, and nothing is lost.

    Example:
        >>> import memtrace, torch
        >>> with memtrace.tag("cache", movable=True):
        ...     cache = torch.ones(8, device="cuda")
        >>> moved = memtrace.sleep("cache", keep="nothing")
        >>> moved = memtrace.wake("cache")
        >>> cache.sum().item()
        0.0
    """
    if is_off():
        return Moved(0, 0)
    refusals.check_allocator("wake")
    moved = sleep_core().wake(tag)
    if moved.refusal == Refusal.NO_ROOM:
        gc.collect()
        moved = sleep_core().wake(tag)
    if moved.refusal != Refusal.NONE:
        raise refusals.of_wake(tag, moved)
    return Moved(moved.bytes, moved.host_bytes)


def asleep() -> dict[str, Asleep]:
    """Returns the tags whose memory sleeps.

    Thread rule: any thread.

    Returns:
        For each tag what is kept, the bytes that a wake will need on the card, and the bytes of its copy on the host.

    Example:
        >>> import memtrace
        >>> memtrace.asleep()
        {}
    """
    if is_off():
        return {}
    words = {value: word for word, value in _KEEPS.items()}
    return {
        name: Asleep(words[Keep(owner.keep)], owner.asleep, owner.host)
        for name, owner in sleep_core().owners().items()
        if owner.is_asleep
    }


def release_host_memory() -> int:
    """Gives the host's memory back that awaits the next sleep: a wake keeps it, because pinning takes long.

    Thread rule: any thread.

    Returns:
        How many bytes went back to the host.

    Example:
        >>> import memtrace
        >>> bytes_released = memtrace.release_host_memory()
    """
    return 0 if is_off() else sleep_core().release_host_memory()
