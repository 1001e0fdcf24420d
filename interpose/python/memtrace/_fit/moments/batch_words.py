# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sentences about a loader's batches, in the language in use, and the fact `fit.batches`."""

from __future__ import annotations

from typing import NamedTuple

from memtrace._fit.moments.choice import Chosen
from memtrace._fit.moments.loader_record import LoaderRecord
from memtrace._fit.moments.read_ahead import ReadAhead
from memtrace._fit.moments.sizes import Size
from memtrace._text.messages import joined_sentences, translated

_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


class Gap(NamedTuple):
    """Why the largest batch was not seen."""

    evidence: str
    why_not: str


def amount_text(items: int, size: Size, longest_item: int | None = None) -> str:
    """Returns "8 x 1,024 tokens, item 37"."""
    amount = _amount(items, size)
    return amount if longest_item is None else translated("$0, item $1", amount, f"{longest_item:,}")


def _amount(items: int, size: Size) -> str:
    if size.pixels > 0:
        text = translated("$0 pixels", f"{size.pixels:,}")
        if size.frames > 1:
            text = translated("$0 frames of $1", f"{size.frames:,}", text)
        return text if items == 1 else translated("$0 x $1", f"{items:,}", text)
    if size.tokens > 0:
        is_padded = items > 1 and size.tokens == items * size.longest
        text = translated("$0 tokens", f"{size.longest if is_padded else size.tokens:,}")
        return translated("$0 x $1", f"{items:,}", text) if is_padded else text
    text = _bytes_text(size.bytes)
    return text if items == 1 else translated("$0 items, $1", f"{items:,}", text)


def _bytes_text(number: int) -> str:
    for unit, size in _UNITS:
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return translated("$0 bytes", f"{number:,}")


def sentences(record: LoaderRecord) -> list[str]:
    """Returns what is said of a loader."""
    said = [_run_text(record, kind, each) for kind, each in enumerate(record.chosen) if kind in record.steps]
    if any(_is_smaller(record, kind) for kind in record.steps):
        said.append(translated("A batch was smaller than measured, because the data set differs at each read."))
    if record.possible is not None and record.chosen:
        amount = amount_text(record.chosen[0].items, record.possible)
        said.append(translated("After another shuffle the longest items can be in one batch ($0).", amount))
    if not record.chosen and not record.why_not and record.is_measured and record.given > 0:
        said.append(translated("All batches of $0 have the same size.", record.line or record.dataset))
    if record.stream is None and record.is_measured and record.counts_read()[0] < record.counts_read()[1]:
        said.append(_read_text(record))
    return said


def _run_text(record: LoaderRecord, kind: int, each: Chosen) -> str:
    amount = amount_text(each.items, record.run_sizes.get(kind, each.size), each.longest_item)
    place, (first, last) = record.line or record.dataset, record.steps[kind]
    if kind > 0:
        return translated("Another large batch ($0) was run in step $1.", amount, f"{first:,}")
    if first == last:
        return translated("The largest batch of $0 ($1) was run in step $2.", place, amount, f"{first:,}")
    numbers = place, amount, f"{first:,}", f"{last:,}"
    if last == first + 1:
        return translated("The largest batch of $0 ($1) was run in steps $2 and $3.", *numbers)
    return translated("The largest batch of $0 ($1) was run in steps $2 to $3.", *numbers)


def _is_smaller(record: LoaderRecord, kind: int) -> bool:
    """True if the run's batch has fewer bytes than the one that the child collated."""
    run = record.run_sizes.get(kind)
    return run is not None and run.bytes > 0 and run.bytes < record.chosen[kind].size.bytes


def _read_text(record: LoaderRecord) -> str:
    read, of = record.counts_read()
    return translated(
        "$0 of $1 items were read in $2 s; many of them have exactly the largest size.",
        f"{read:,}",
        f"{of:,}",
        f"{record.items.seconds:.0f}",
    )


def gap(record: LoaderRecord, is_reordered: bool) -> Gap | None:
    """Returns why the program may have a larger batch than those seen; None if it has none."""
    if not record.trains or record.is_complete:
        return None
    place = record.line or record.dataset
    seen = translated(
        "$0 batches of $1 were seen; the largest had $2.",
        f"{record.given:,}",
        place,
        amount_text(record.largest_given.sequences, record.largest_given),
    )
    if record.why_not:
        return Gap(seen, _why_not_chosen(record.why_not))
    if record.stream is not None:
        return None if record.is_measured and is_reordered else _gap_of_stream(seen, record.stream, is_reordered)
    if not record.is_measured:
        return Gap(seen, _why_not_measured(record))
    if is_reordered or not record.chosen or 0 in record.steps:
        return None
    largest = amount_text(record.chosen[0].items, record.chosen[0].size, record.chosen[0].longest_item)
    return Gap(
        joined_sentences([seen, translated("The data set's largest batch has $0.", largest)]),
        translated("--batch-order as-is left the batches in their order."),
    )


def _gap_of_stream(seen: str, stream: ReadAhead, is_reordered: bool) -> Gap:
    if not is_reordered:
        return Gap(seen, translated("--batch-order as-is left the batches in their order."))
    if stream.is_on_card:
        return Gap(seen, translated("They are made on the card, so none was read ahead."))
    read = f"{len(stream.sizes):,}"
    return Gap(seen, translated("$0 batches were read ahead; those after them can be larger.", read))


def _why_not_chosen(reason: str) -> str:
    if reason == "sampler":
        return translated("Its sampler gives no numbers of items, so they were not measured.")
    if reason == "iterator":
        return translated("Its batches come from an iterator of another library, so they were not reordered.")
    if reason == "continued":
        return translated("It continued within an epoch (load_state_dict), so its batches were not reordered.")
    return translated("The batches could not be chosen: $0", reason)


def _why_not_measured(record: LoaderRecord) -> str:
    read, of = record.counts_read()
    if read == 0 and record.items.why_not:
        return translated("The items could not be read: $0", record.items.why_not)
    return translated(
        "The data set could not be measured: $0 of $1 items were read in $2 s.",
        f"{read:,}",
        f"{of:,}",
        f"{record.items.seconds:.0f}",
    )


def as_fact(record: LoaderRecord, is_said: bool) -> dict[str, object]:
    """Returns what a program reads of it, with the sentences for people if it `is_said`."""
    read, of = record.counts_read()
    return {
        "line": record.line,
        "data_set": record.dataset,
        "trains": record.trains,
        "stream": record.stream is not None,
        "batches_given": record.given,
        "items_read": read,
        "items": of,
        "seconds": round(record.items.seconds, 3),
        "largest": [_chosen_fact(record, kind, each) for kind, each in enumerate(record.chosen)],
        "possible": None if record.possible is None else record.possible._asdict(),
        "said": sentences(record) if is_said else [],
    }


def _chosen_fact(record: LoaderRecord, kind: int, each: Chosen) -> dict[str, object]:
    first, last = record.steps.get(kind, (0, 0))
    size = record.run_sizes.get(kind, each.size)
    return {
        "kind": each.kind,
        "items": each.items,
        **size._asdict(),
        "longest_item": each.longest_item,
        "first_step": first,
        "last_step": last,
    }
