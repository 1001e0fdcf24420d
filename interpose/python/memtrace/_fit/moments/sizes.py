# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The size of an item of a data set, or of a batch: its tokens, pixels, frames and bytes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtrace._patching.signal_exceptions import raise_if_from_outside

_MOST_DEPTH = 6
_MOST_PARTS = 10_000  # of a list whose elements are not numbers
_BYTES_OF_A_NUMBER = 8
_SIDES_OF_IMAGE = 3  # channels, height, width
_COLOURS = 4  # the most channels of an image whose channels come last


class Size(NamedTuple):
    """The parts of an item that decide about memory. 0: it has nothing of the kind."""

    tokens: int = 0  # numbers in its largest tensor (or list) of integers
    longest: int = 0  # ... and the last side of that
    pixels: int = 0  # of its largest image
    frames: int = 0  # of its longest video
    bytes: int = 0  # of all of it in the host

    @property
    def sequences(self) -> int:
        """The number of sequences in a batch, if they are padded to one length; else 1."""
        return self.tokens // self.longest if self.longest and self.tokens % self.longest == 0 else 1

    def joined(self, other: Size) -> Size:
        """Returns the size of both together: the larger of each kind, and the sum of the bytes."""
        tokens, longest, pixels, frames = (max(pair) for pair in zip(self[:-1], other[:-1], strict=True))
        return Size(tokens, longest, pixels, frames, self.bytes + other.bytes)


_NONE = Size()


def size_of(item: object) -> Size:
    """Returns the size of an item. Looks at shapes and lengths only, never at values on a card."""
    return _size_or_none(item, _SIDES_OF_IMAGE)


def size_of_batch(batch: object) -> Size:
    """Returns the size of a batch, whose tensors have one side more than those of an item."""
    return _size_or_none(batch, _SIDES_OF_IMAGE + 1)


def is_on_card(value: object) -> bool:
    """True if a tensor in it is on a card."""
    return any(getattr(part, "is_cuda", False) for part in _parts(value, 0))


def _size_or_none(value: object, sides: int) -> Size:
    """Returns a size of zeros for an object that answers none of our questions: the program must go on."""
    try:
        return _size_of(value, 0, sides)
    except Exception as error:
        raise_if_from_outside(error)
        return _NONE


def _size_of(value: object, depth: int, sides: int) -> Size:
    """`sides` is the least number of sides of a tensor of images."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and hasattr(value, "dtype"):
        return _of_array(value, tuple(int(side) for side in shape), sides)
    if isinstance(value, (str, bytes, bytearray)):
        return Size(bytes=len(value))
    if isinstance(value, (bool, int, float)):
        return Size(bytes=_BYTES_OF_A_NUMBER)
    if hasattr(value, "getbands") and hasattr(value, "size"):  # an image of PIL
        pixels = math.prod(value.size)
        return Size(pixels=pixels, bytes=pixels * len(value.getbands()))
    if isinstance(value, (list, tuple)) and len(value) > 1 and isinstance(value[0], (int, float)):
        is_tokens = isinstance(value[0], int) and not isinstance(value[0], bool)
        length = len(value) if is_tokens else 0
        return Size(tokens=length, longest=length, bytes=_BYTES_OF_A_NUMBER * len(value))
    size = _NONE
    for part in _elements(value, depth):
        size = size.joined(_size_of(part, depth + 1, sides))
    return size


def _of_array(array: object, shape: tuple[int, ...], sides: int) -> Size:
    numbers = math.prod(shape)
    bytes_of = numbers * int(getattr(array, "itemsize", _BYTES_OF_A_NUMBER))
    if len(shape) >= sides:
        is_last = len(shape) == 3 and shape[2] <= _COLOURS < shape[0]
        pixels = shape[0] * shape[1] if is_last else shape[-1] * shape[-2]
        return Size(pixels=pixels, frames=shape[-4] if len(shape) > sides else 0, bytes=bytes_of)
    if len(shape) >= sides - 2 and _is_integer(array):  # not the labels of a batch
        return Size(tokens=numbers, longest=shape[-1], bytes=bytes_of)
    return Size(bytes=bytes_of)


def _is_integer(array: object) -> bool:
    """True for a tensor or an array of integers, which are tokens unless there is an image."""
    dtype = getattr(array, "dtype", None)
    kind = getattr(dtype, "kind", None)  # numpy's
    return str(dtype).startswith(("torch.int", "torch.uint")) if kind is None else kind in ("i", "u")


def _elements(value: object, depth: int) -> Iterable[object]:
    """Returns what a container holds, and the fields of an object that is none; nothing beyond some depth."""
    if depth >= _MOST_DEPTH or value is None:
        return ()
    if isinstance(value, Mapping):
        return list(value.values())[:_MOST_PARTS]
    if isinstance(value, (list, tuple, set)):
        return list(value)[:_MOST_PARTS]
    if dataclasses.is_dataclass(value) or hasattr(value, "to_dict"):  # such as a graph of torch_geometric
        return [part for part in getattr(value, "__dict__", {}).values() if part is not value]
    return ()


def _parts(value: object, depth: int) -> Iterable[object]:
    yield value
    if not hasattr(value, "dtype") and not isinstance(value, (str, bytes)):
        for part in _elements(value, depth):
            yield from _parts(part, depth + 1)
