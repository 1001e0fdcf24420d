# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models on their way to a card: the bytes still to come, and weights that are wider than in their file."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import LOAD_FILE_TYPE, LOAD_WIDER, PLACING_TO_COME, PLACING_WIDE
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

_HALVES = ("BF16", "F16")
_LARGEST_HEADER = 100 << 20


def watch(torch: ModuleType, session: Session) -> None:
    """Watches `Module.to()` and similar methods, and transformers once it is imported."""
    loading = _Loading(torch, session)
    module_class: type[Module] = torch.nn.Module
    patches.put(
        module_class,
        "_apply",
        loading.moving(module_class._apply),
        "torch.nn.Module._apply: notes which parts of a model are still to be moved",
    )
    when_imported("transformers.modeling_utils", loading.watch_transformers)
    session.with_labels.append(loading.annotate)


class _Loading:
    """Thread rule: any thread; of several models that load at once, only one is told of."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._moved: list[Module] = []  # modules that are moved now, the outermost first
        self._loaded: tuple[Module, int, int] | None = None  # a model, its card, and the bytes allocated there before
        self._told: set[int] = set()  # cards for which bytes to come were stated
        self._files: IdentityMap[Module, tuple[str, ...]] = IdentityMap()  # the files that models were loaded from

    def moving(self, original: Callable[..., object]) -> Callable[..., object]:
        """Returns Module._apply with a note of the module that it moves."""
        moved = self._moved

        @functools.wraps(original)
        def apply(module: Module, *args: object, **kwargs: object) -> object:
            if moved:
                return original(module, *args, **kwargs)
            try:
                moved.append(module)
                return original(module, *args, **kwargs)
            finally:
                moved.clear()

        return apply

    def watch_transformers(self, module: ModuleType) -> None:
        """Wraps the function that loads weights from files into a model without weights."""
        owner = getattr(module, "PreTrainedModel", None)
        original: Callable[..., object] | None = getattr(owner, "_load_pretrained_model", None)
        if original is None:
            return

        @functools.wraps(original)
        def load(
            model: Module,
            state_dict: object,
            checkpoint_files: Iterable[object] | None,
            load_config: object,
            *args: object,
            **kwargs: object,
        ) -> object:
            with self._while_loading(model, checkpoint_files, load_config):
                return original(model, state_dict, checkpoint_files, load_config, *args, **kwargs)

        patches.put(
            owner,
            "_load_pretrained_model",
            staticmethod(load),
            "transformers.PreTrainedModel._load_pretrained_model: notes what is still to be loaded",
        )

    @contextlib.contextmanager
    def _while_loading(
        self, model: Module, files: Iterable[object] | None, load_config: object
    ) -> Generator[None, None, None]:
        self._begin(model, files, load_config)
        try:
            yield
        finally:
            self._loaded = None

    def _begin(self, model: Module, files: Iterable[object] | None, load_config: object) -> None:
        try:
            if files:
                self._files.set(model, tuple(str(file) for file in files))
            card = _only_card(getattr(load_config, "device_map", None))
            if card is not None:
                before = self._torch.cuda.memory_allocated(card) if self._torch.cuda.is_initialized() else 0
                self._loaded = (model, card, before)
        except Exception as error:  # another version of transformers: nothing is known then
            raise_if_from_outside(error)

    def annotate(self) -> None:
        """States `placing.to_come.CARD`, `placing.wide.CARD`, and `load.wider.CARD` with `load.file_type`. Bytes."""
        to_come = self._bytes_to_come()
        wide = self._moved_in_fp32() if to_come else 0
        self._told.update(to_come)
        for card in self._told:
            self._session.core.annotate(f"{PLACING_TO_COME}.{card}", str(to_come.get(card, 0)))
            self._session.core.annotate(f"{PLACING_WIDE}.{card}", str(wide if card in to_come else 0))
        for model, files in self._files.items():
            self._annotate_wider(model, files, to_come)

    def _bytes_to_come(self) -> dict[int, int]:
        if self._loaded is not None:
            model, card, before = self._loaded
            whole = sum(tensor.nbytes for tensor in _tensors(model))
            came = self._torch.cuda.memory_allocated(card) - before
            return {card: max(0, whole - came)}
        if not self._moved:
            return {}
        tensors = list(_tensors(self._moved[0]))
        there = [tensor for tensor in tensors if tensor.is_cuda]
        cards = {tensor.device.index for tensor in there}
        if len(cards) != 1:
            return {}
        sizes = {tensor.itemsize for tensor in there if tensor.is_floating_point()}
        size = sizes.pop() if len(sizes) == 1 else None
        left = (tensor for tensor in tensors if tensor.device.type == "cpu")
        return {cards.pop(): sum(_bytes_on_card(tensor, size) for tensor in left)}

    def _moved_in_fp32(self) -> int:
        """Returns the bytes of fp32 weights of the moved model, on the card or not; 0 if any has another type."""
        numbers = [tensor for module in self._moved[:1] for tensor in module.parameters() if tensor.is_floating_point()]
        is_wide = all(tensor.dtype == self._torch.float32 for tensor in numbers)
        return sum(tensor.nbytes for tensor in numbers) if is_wide else 0

    def _annotate_wider(self, model: Module, files: tuple[str, ...], to_come: dict[int, int]) -> None:
        """States the bytes of fp32 weights on one card whose file has half precision."""
        parameters = list(model.parameters())
        wide = [p for p in parameters if p.dtype == self._torch.float32]
        if sum(p.nbytes for p in wide) < 0.9 * sum(p.nbytes for p in parameters):
            return  # some were cast later: adapters, or for 4-bit training
        cards = {p.device.index for p in wide if p.is_cuda} | set(to_come)
        kind = _type_of(files) if wide and len(cards) == 1 else ""
        if kind not in _HALVES:
            return
        annotate = self._session.core.annotate
        annotate(LOAD_FILE_TYPE, kind)
        annotate(f"{LOAD_WIDER}.{cards.pop()}", str(sum(p.nbytes for p in wide) // 2))


def _tensors(module: Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from module.buffers()


def _bytes_on_card(tensor: Tensor, size: int | None) -> int:
    """Returns the bytes of a tensor on the card if each number takes `size`."""
    is_cast = size is not None and tensor.is_floating_point()
    return int(tensor.numel() * size) if is_cast and size is not None else int(tensor.nbytes)


def _only_card(device_map: Mapping[str, object] | None) -> int | None:
    """Returns the card that all of a model goes to; None if there are several or none."""
    devices = {_card(device) for device in device_map.values()} if device_map else {None}
    return devices.pop() if len(devices) == 1 else None


def _card(device: object) -> int | None:
    if isinstance(device, int):
        return device
    name, _, number = str(device).partition(":")
    return int(number or 0) if name == "cuda" else None


@functools.lru_cache(maxsize=64)
def _type_of(files: tuple[str, ...]) -> str:
    """Returns the type of nearly all numbers in these safetensors ("BF16"); "" if there is none.

    The files are read once: facts are stated again at each step.
    """
    sizes: dict[str, int] = {}
    for file in files:
        for kind, count in _types(file):
            sizes[kind] = sizes.get(kind, 0) + count
    largest = max(sizes, key=lambda kind: sizes[kind], default="")
    return largest if sizes and sizes[largest] >= 0.95 * sum(sizes.values()) else ""


def _types(file: str) -> list[tuple[str, int]]:
    """Returns types and bytes of the tensors of a file, from its header; none if the file has another format."""
    try:
        return _types_in_header(file)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []


def _types_in_header(file: str) -> list[tuple[str, int]]:
    if not file.endswith(".safetensors"):
        return []
    with open(file, "rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(length)) if length < _LARGEST_HEADER else {}
    spans = ((tensor["dtype"], tensor["data_offsets"]) for name, tensor in header.items() if name != "__metadata__")
    return [(kind, end - begin) for kind, (begin, end) in spans]
