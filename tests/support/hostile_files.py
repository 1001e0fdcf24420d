# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Files that require far more memory than they have bytes, of every kind that memtrace reads.

No library writes them: traces follow profiler/trace/format.md, in one block that was never closed and so has no
checksum, and pickles are written by opcodes.
"""

import pickle
import struct
from collections.abc import Callable, Iterable

MIB = 1 << 20
BYTES = 20 * MIB  # of a file; more than what is wrong with it fits into what it may take

ALLOCATE, RELABEL, STEP, ANNOTATE, OUTSIDE, MAP, ACTIVITY = 16, 22, 23, 26, 30, 20, 34
STRING, FRAME, STACK, INFO = 1, 2, 3, 4


def varint(number: int) -> bytes:
    """Encodes a number as protobuf does."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def record(kind: int, *fields: int | bytes) -> bytes:
    body = b"".join(field if isinstance(field, bytes) else varint(field) for field in fields)
    return bytes([kind]) + varint(len(body)) + body


def text(words: str) -> bytes:
    return varint(len(words)) + words.encode()


def allocation(card: int = 0, stack: int = 0) -> bytes:
    """Returns 512 bytes after the latest address; of its record, only the stack differs from the one before."""
    flags = (8,) if stack else (0,)
    return record(ALLOCATE, 0, 8 * card, 2, 1, *flags, *((stack,) if stack else ()))


def trace(records: bytes) -> bytes:
    header = (b"memtrace" + struct.pack("<II", 3, 0)).ljust(4096, b"\0")
    block = struct.pack("<IHHQQII", 0xB10C7ACE, 2, 0, 1, 0, 32 + len(records), len(records))
    return header + block + records


def repeated(unit: bytes, first: bytes = b"") -> bytes:
    return trace(first + unit * (BYTES // len(unit)))


def counted(unit: Callable[[int], bytes], last: bytes = b"") -> bytes:
    """Returns records that differ: `unit` of 1, 2, 3 and so on."""
    return trace(b"".join(unit(number) for number in range(1, BYTES // (len(unit(1 << 20))))) + last)


def deep_stack() -> bytes:
    frame = record(STRING, 1, text("f")) + record(FRAME, 1, 1, 1, 1)
    stacks = b"".join(record(STACK, number, number - 1, 1) for number in range(1, BYTES // 12))
    return trace(frame + stacks + allocation(stack=BYTES // 12 - 1))


def long_annotations() -> bytes:
    keys = b"".join(record(STRING, number, text(str(number))) for number in range(2, 10_000))
    facts = b"".join(record(ANNOTATE, 0, number, 1) for number in range(2, 10_000))
    return trace(record(STRING, 1, text("x" * MIB)) + keys + facts)


TRACES: dict[str, Callable[[], bytes]] = {
    "living_blocks": lambda: repeated(allocation()),
    "cards": lambda: counted(allocation),
    "steps_of_many_cards": lambda: repeated(record(STEP, 0, 1), b"".join(allocation(card) for card in range(1000))),
    "labels": lambda: repeated(record(RELABEL, 0, 0, 4, 3, 512, 1), record(ALLOCATE, 0, 0, 2, 1 << 40, 0)),
    "mapped_ranges": lambda: repeated(record(MAP, 0, 0, 4, 512, 0)),
    "outside_blocks": lambda: repeated(record(OUTSIDE, 0, 0, 2, 1, 0, 0, 0, 0)),
    "strings": lambda: counted(lambda number: record(STRING, number, text(""))),
    "frames": lambda: counted(lambda number: record(FRAME, number, 0, 0, 0)),
    "stacks": lambda: counted(lambda number: record(STACK, number, 0, 0)),
    "facts": lambda: counted(lambda number: record(INFO, text(str(number)), text(""))),
    "deep_stack": deep_stack,
    "long_annotations": long_annotations,
    "activities": lambda: repeated(record(ACTIVITY, 0, 0, 4, 1)),
    "length_beyond_the_file": lambda: trace(bytes([STRING]) + varint(1 << 63) + b"x"),
    "unused_space": lambda: trace(bytes(BYTES)),
}


def snapshot(entries: bytes) -> bytes:
    """Returns {"segments": [], "device_traces": [[...]]}; `entries` leaves the inner list's items on the stack."""
    return b"\x80\x04}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces](](" + entries + b"eeu."


ENTRY = pickle.dumps({"action": "alloc", "addr": 512, "size": 1, "stream": 0, "time_us": 1}, 2)[2:-1]

PICKLES: dict[str, Callable[[], bytes]] = {
    # One entry that is memoized, and a list with millions of references to it, two bytes each.
    "one_entry_many_times": lambda: snapshot(ENTRY + b"q\x01" + b"h\x01" * (BYTES // 2)),
    "memo_of_everything": lambda: b"\x80\x04" + b"]\x94" * (BYTES // 2) + b".",
    "lists_that_double": lambda: b"\x80\x04]" + b"\x94(h\0h\0e" * (BYTES // 6) + b".",
    "lists_a_million_deep": lambda: snapshot(b"]" * 1_000_000 + b"a" * 999_999),
    "tuples_a_million_deep": lambda: b"\x80\x04)" + b"\x85" * 1_000_000 + b".",
    "marks": lambda: b"\x80\x04" + b"(" * BYTES + b".",
    "numbers": lambda: snapshot(b"K\x01" * (BYTES // 2)),
    "length_of_2_to_the_63": lambda: b"\x80\x04\x8d" + struct.pack("<Q", 1 << 63) + b"x.",
    "bytes_of_4_gib": lambda: b"\x80\x04B" + struct.pack("<I", 0xFFFFFFFF) + b"x.",
    "number_of_2_gib": lambda: b"\x80\x04\x8b" + struct.pack("<i", 0x7FFFFFFF) + b"x.",
    "frame_of_2_to_the_64": lambda: b"\x80\x04\x95" + b"\xff" * 8 + b"].",
    "memo_place_of_4_gib": lambda: b"\x80\x04]r\xff\xff\xff\xff.",
}

MEMORY = (
    b'{"name":"[memory]","ph":"i","ts":%d,"tid":7,"args":{"Total Reserved":0,"Total Allocated":0,'
    b'"Bytes":512,"Addr":%d,"Device Id":%d,"Device Type":1}}'
)


def profile(events: Iterable[bytes]) -> bytes:
    return b'{"schemaVersion":1,"traceEvents":[' + b",\n".join(events) + b"]}"


PROFILES: dict[str, Callable[[], bytes]] = {
    "living_blocks": lambda: profile(MEMORY % (n, n * 512, 0) for n in range(BYTES // 130)),
    "cards": lambda: profile(MEMORY % (n, n * 512, n) for n in range(BYTES // 130)),
    "lists_a_million_deep": lambda: profile([b"[" * 1_000_000 + b"]" * 1_000_000]),
    "opened_and_never_closed": lambda: b'{"traceEvents":' + b"[" * BYTES,
    "one_string": lambda: profile([b'{"name":"' + b"\\u0041" * (BYTES // 6) + b'"}']),
    "empty_events": lambda: profile([b"{}"] * (BYTES // 4)),
    "slices": lambda: profile(
        b'{"ph":"X","cat":"cpu_op","name":"%d","tid":%d,"ts":1,"dur":1}' % (n, n) for n in range(BYTES // 64)
    ),
}

HEADER = b"Thread,Time,Action,Pointer,Size,Stream\n"

LOGS: dict[str, Callable[[], bytes]] = {
    "living_blocks": lambda: HEADER + b"".join(b"1,0:0:0:0,allocate,%x,1,0\n" % (512 * n) for n in range(BYTES // 32)),
    "one_line": lambda: HEADER + b"1," * (BYTES // 2),
    "no_lines": lambda: HEADER + b"\n" * BYTES,
}


def good_log(pairs: int) -> bytes:
    """Returns a log of blocks of which a hundred live at a time, and each is freed."""
    lines = []
    for n in range(pairs):
        lines.append(b"1,0:0:%d:%d,allocate,%x,1048576,0\n" % (n // 1_000_000, n % 1_000_000, (n % 100 + 1) << 20))
        lines.append(b"1,0:0:%d:%d,free,%x,1048576,0\n" % (n // 1_000_000, n % 1_000_000, ((n + 1) % 100 + 1) << 20))
    return HEADER + b"".join(lines)
