# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a batch like those of a DataLoader, without side effects on the training."""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.utils.data import DataLoader, Dataset


def example_batch(loader: DataLoader[object]) -> object:
    """Collates the first samples of the loader's data set, in this process.

    Neither the loader nor its sampler is iterated, and no random number is used. Raises RuntimeError for data that can
    be read only once.
    """
    with _random_numbers_kept():
        if loader.batch_sampler is None and loader.batch_size is None:  # the data set returns whole batches
            return loader.collate_fn(_samples(loader.dataset, 1)[0])
        count = loader.batch_size or getattr(loader.batch_sampler, "batch_size", None) or 1
        return loader.collate_fn(_samples(loader.dataset, count))


def _samples(dataset: Dataset[object], count: int) -> list[object]:
    from torch.utils.data import IterableDataset

    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__"):
        samples = iter(dataset)
        if samples is dataset:
            raise RuntimeError("the data set can be read only once, so no batch can be taken from it")
        return list(itertools.islice(samples, count))
    places = list(range(min(count, len(dataset))))
    if hasattr(dataset, "__getitems__"):
        return list(dataset.__getitems__(places))
    return [dataset[place] for place in places]


@contextlib.contextmanager
def _random_numbers_kept() -> Iterator[None]:
    import torch

    numpy = sys.modules.get("numpy")
    states = random.getstate(), torch.random.get_rng_state(), numpy.random.get_state() if numpy else None
    try:
        yield
    finally:
        random.setstate(states[0])
        torch.random.set_rng_state(states[1])
        if numpy:
            numpy.random.set_state(states[2])
