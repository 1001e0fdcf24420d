# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which batches a trial of `memtrace fit` gives first, from the sizes of their items; and in which order."""

import itertools

import pytest
from memtrace._fit.moments.batch_order import Given, Length, largest_first
from memtrace._fit.moments.choice import candidates, chosen, numbers_of
from memtrace._fit.moments.sizes import Size, size_of


class Array:
    """The shape and type of a tensor or an array."""

    def __init__(self, *shape: int, dtype: str = "torch.int64", itemsize: int = 8):
        self.shape, self.dtype, self.itemsize = shape, dtype, itemsize


@pytest.mark.parametrize(
    ("item", "size"),
    [
        (Array(128), Size(tokens=128, longest=128, bytes=1024)),
        ({"input_ids": [1] * 7, "labels": [1] * 5}, Size(tokens=7, longest=7, bytes=96)),
        (Array(8, 500), Size(tokens=4000, longest=500, bytes=32000)),
        (Array(3, 20, 10, dtype="torch.float32", itemsize=4), Size(pixels=200, bytes=2400)),
        (Array(20, 10, 3, dtype="torch.uint8", itemsize=1), Size(pixels=200, bytes=600)),
        (Array(16, 3, 20, 10, dtype="torch.uint8", itemsize=1), Size(pixels=200, frames=16, bytes=9600)),
        ((Array(100, dtype="torch.float32", itemsize=4), 3), Size(bytes=408)),
        ("some text", Size(bytes=9)),
        (None, Size()),
    ],
)
def test_size_has_tokens_pixels_frames_and_bytes(item, size):
    assert size_of(item) == size


def choose(lengths: list[int], batches: list[list[int]], collated: dict[int, Size] | None = None):
    sizes = {number: Size(tokens=length, longest=length, bytes=8 * length) for number, length in enumerate(lengths)}
    among = candidates(batches, sizes)
    return [(each.kind, each.place, each.longest_item) for each in chosen(among, collated or {}, sizes)]


def test_batch_with_the_longest_item_is_the_largest_after_padding():
    assert choose([5, 5, 9, 5, 8, 8], [[0, 1], [2, 3], [4, 5]]) == [("largest", 1, 2)]


def test_batch_with_more_items_is_a_kind_of_its_own():
    assert choose([9, 100, 5, 5, 5], [[0], [1], [2, 3, 4]]) == [("largest", 1, 1), ("items", 2, None)]


def test_what_the_collator_made_decides():
    # The collator packs: the batch with the longest item has fewer tokens than another.
    lengths, batches = [5, 5, 9, 1, 8, 8], [[0, 1], [2, 3], [4, 5]]
    sizes = {number: Size(length, length, bytes=8 * length) for number, length in enumerate(lengths)}
    among = candidates(batches, sizes)
    packed = {
        place: Size(tokens=(total := sum(lengths[number] for number in each.numbers)), longest=total, bytes=8 * total)
        for place, each in enumerate(among)
    }
    assert [each.place for each in chosen(among, packed, sizes)] == [2]


def test_equal_batches_keep_their_order_even_if_the_last_is_smaller():
    assert choose([5] * 5, [[0, 1], [2, 3], [4]]) == []


def test_first_batch_can_be_the_largest():
    assert choose([9, 5, 5], [[0], [1], [2]]) == [("largest", 0, 0)]


def test_numbers_of_batches_without_collation_are_single():
    assert numbers_of(7) == [7] and numbers_of([1, 2]) == [1, 2] and numbers_of(["a"]) is None


def order(count: int, chosen: list[int], repeats: int, beside: int | None = None) -> list[int]:
    again = itertools.chain([True] * (repeats - 1), itertools.repeat(False))
    asked: list[int | None] = []
    given = Given(largest_first(list(range(count)), chosen, lambda: next(again), Length(beside)), asked)
    batches = list(given)
    assert [kind is not None for kind in asked] == [
        place < sum(kind is not None for kind in asked) for place in range(len(asked))
    ]
    return batches


def test_largest_is_repeated_and_the_epoch_keeps_its_length_and_its_last_batch():
    assert order(8, [5, 2], repeats=2) == [5, 5, 2, 0, 1, 3, 4, 7]


def test_epoch_of_few_batches_is_no_longer_than_before():
    assert order(3, [1], repeats=9) == [1, 1, 1]
    assert order(1, [0], repeats=2) == [0]


def test_shortened_epoch_has_the_largest_some_usual_and_the_last():
    assert order(100, [50], repeats=2, beside=2) == [50, 50, 0, 1, 99]
    assert order(100, [50, 7], repeats=2, beside=2) == [50, 50, 7, 0, 99]
    assert order(100, [50, 7], repeats=1, beside=0) == [50, 99]


def test_nothing_chosen_keeps_the_order():
    assert order(4, [], repeats=1) == [0, 1, 2, 3]
