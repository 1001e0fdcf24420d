# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The columns of the table `fleet`: one row a trace. docs/fleets.md has the same list.

Types are stated, never guessed from the rows, so that all tables have the same. They are types that Parquet, DuckDB and
Spark share: counts and bytes are signed, because Spark has no unsigned integers, and moments are UTC without a zone.
What a trace does not state is NULL.
"""

from typing import NamedTuple

from memtrace._core.vocabulary import LEDGER, OFF_CARD, ROLES

NAME = "memtrace.fleet/1"  # in the metadata of the Parquet file, under the key `schema`


class Column(NamedTuple):
    """A column with its type, as DuckDB writes it."""

    name: str
    type: str


_TEXT = "VARCHAR"
_COUNT = "BIGINT"
_MOMENT = "TIMESTAMP"
_OF_A_CARD = (
    "card_bytes",
    "requested_bytes",
    "allocated_bytes",
    "reserved_bytes",
    "peak_requested_bytes",
    "peak_allocated_bytes",
    "peak_reserved_bytes",
    "reserved_at_peak_bytes",
)


def _columns(kind: str, *names: str) -> list[Column]:
    return [Column(name, kind) for name in names]


def _list_of(kind: str, *fields: Column) -> str:
    inside = ", ".join(f"{field.name} {field.type}" for field in fields)
    return f"{kind}({inside})[]"


COLUMNS: tuple[Column, ...] = (
    *_columns(_TEXT, "file", "problem", "state", "job", "host"),
    *_columns(_COUNT, "pid", "rank", "local_rank", "world_size"),
    *_columns(_TEXT, "script", "script_version", "command", "python", "torch", "cuda", "memtrace", "allocator"),
    *_columns("BOOLEAN", "simulated"),
    *_columns(_TEXT, "simulated_card"),
    *_columns(_MOMENT, "started_utc", "summary_utc"),
    *_columns("DOUBLE", "seconds"),
    *_columns(_COUNT, "file_bytes", "events", "lost_events", "steps"),
    *_columns(_TEXT, "phase"),
    *_columns(_COUNT, "cards", *_OF_A_CARD),
    *_columns(_COUNT, "peak_step"),
    *_columns(_TEXT, "peak_phase"),
    *_columns(_COUNT, "growth_bytes_per_step"),
    *_columns(_COUNT, *(f"{part}_bytes" for part in (*LEDGER, *OFF_CARD))),
    *_columns(_COUNT, *(f"peak_{role}_bytes" for role in (*ROLES, "other"))),
    *_columns(_TEXT, "largest_role"),
    *_columns(_COUNT, "largest_role_bytes"),
    *_columns(_COUNT, "out_of_memory"),
    *_columns(_TEXT, "oom_cause", "oom_line", "oom_owner"),
    *_columns(_COUNT, "oom_card", "oom_requested_bytes", "oom_available_bytes", "oom_step"),
    *_columns(_TEXT, "oom_phase"),
    Column(
        "owners",
        _list_of("STRUCT", *_columns(_COUNT, "card"), *_columns(_TEXT, "role", "owner"), *_columns(_COUNT, "bytes")),
    ),
    Column("per_card", _list_of("STRUCT", *_columns(_COUNT, "card", *_OF_A_CARD))),
)
