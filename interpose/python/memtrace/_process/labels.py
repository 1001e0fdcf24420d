# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tells the recorder which ranges are parameters, buffers, gradients, optimizer states and inputs."""

from __future__ import annotations

import ctypes
import weakref
from array import array
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from memtrace._core.c_abi import Core
from memtrace._core.vocabulary import ROLE_BUFFER, ROLE_GRADIENT, ROLE_INPUT, ROLE_OPTIMIZER_STATE, ROLE_PARAMETER
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.graphs import is_leaf
from memtrace._process.identity_map import IdentityMap
from memtrace._process.module_roots import ModuleRoots
from memtrace._process.quantized import scales

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from torch.optim import Optimizer

    TensorsByName = dict[str, Tensor]


def without_wrapper(path: str) -> str:
    """Returns the path without torch.compile's wrapper, which is not part of the model."""
    return path.replace("_orig_mod.", "").removesuffix("_orig_mod").removesuffix(".")


class _Parameter:
    """The facts about a parameter or a buffer: the number and length of its path, its role, and its model."""

    __slots__ = ("length", "path", "role", "whole")

    def __init__(self, role: int) -> None:
        self.length = -1
        self.path = 0
        self.role = role
        self.whole: weakref.ref[Module] | None = None

    @property
    def is_of_deleted_model(self) -> bool:
        """True if it was part of a model that is gone, and is not part of a living one."""
        return self.role == ROLE_PARAMETER and self.whole is not None and self.whole() is None


class Labels:
    """States roles. Repeating what is known is cheap, so each call may do it."""

    def __init__(self, core: Core, shim: ctypes.PyDLL) -> None:
        """States everything to `core`; `shim` is the library for this torch, called while holding the GIL."""
        self._core = core
        self._label_gradients = shim.memtrace_torch_label_gradients
        self._label_gradients.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        self._label_gradients.restype = ctypes.c_size_t
        # All known parameters and their paths; None if they have changed.
        self._order: tuple[list[weakref.ref[Tensor]], array[int]] | None = None
        self._parameters: IdentityMap[Tensor, _Parameter] = IdentityMap()
        self._optimizers: IdentityMap[Optimizer, int] = IdentityMap()  # number of labelled states
        self.roots = ModuleRoots()

    def parameter(self, tensor: Tensor, path: str, whole: weakref.ref[Module] | None = None) -> None:
        """Notes that `tensor` is the parameter `path` of `whole`; keeps the longest path of a parameter."""
        self._held(tensor, path, ROLE_PARAMETER, whole)

    def buffer(self, tensor: Tensor, path: str) -> None:
        """Notes that `tensor` is the buffer `path` of a module."""
        self._held(tensor, path, ROLE_BUFFER)

    def _held(self, tensor: Tensor, path: str, role: int, whole: weakref.ref[Module] | None = None) -> None:
        if not tensor.is_cuda:
            return
        path = without_wrapper(path)
        known = self._parameters.get(tensor)
        if known is None:
            known = _Parameter(role)
            self._parameters.set(tensor, known)
        if whole is not None and (known.whole is None or known.whole() is None):
            known.whole = whole
        if len(path) > known.length:
            known.length, known.path = len(path), self._core.intern(path)
            self._order = None
        self._relabel(tensor, known.role, known.path)

    def module(self, module: Module, prefix: str = "") -> None:
        """Notes every parameter and buffer of `module` with its full path."""
        whole = weakref.ref(module)
        for name, tensor in module.named_parameters(remove_duplicate=True):
            path = f"{prefix}.{name}" if prefix else name
            self.parameter(tensor, path, whole)
            for part in scales(tensor):
                self.buffer(part, path)
        for name, tensor in module.named_buffers(remove_duplicate=True):
            self.buffer(tensor, f"{prefix}.{name}" if prefix else name)

    def functional(
        self, module: Module, tensors: TensorsByName | list[TensorsByName] | tuple[TensorsByName, ...]
    ) -> None:
        """Notes that `tensors`, by path, stand in for the parameters and buffers of `module`."""
        for group in tensors if isinstance(tensors, (list, tuple)) else (tensors,):
            unknown = {name: tensor for name, tensor in group.items() if self._parameters.get(tensor) is None}
            buffers = {name for name, _ in module.named_buffers()} if unknown else set()
            for name, tensor in unknown.items():
                self._held(tensor, name, ROLE_BUFFER if name in buffers else ROLE_PARAMETER)

    def inputs(self, arguments: object) -> None:
        """Labels a model's inputs; the recorder skips those that already have another role."""
        for tensor in tensors_in(arguments, 4):
            if not tensor.is_cuda or not is_leaf(tensor) or tensor.requires_grad or is_fake(tensor):
                continue
            try:
                storage = tensor.untyped_storage()  # a slice came with the whole
                address, size = storage.data_ptr(), storage.nbytes()
            except Exception as error:  # as in _Ranges.add
                raise_if_from_outside(error)
                continue
            if address:
                self._core.relabel(tensor.device.index, address, size, ROLE_INPUT, 0, 0)

    def gradients(self) -> None:
        """Labels the accumulated gradients of all known parameters."""
        references, paths = self._order or self._make_order()
        parameters = [tensor for reference in references if (tensor := reference()) is not None]
        if len(parameters) < len(references):  # one has died
            self._order = None
            known = self._parameters.items()
            parameters, paths = [tensor for tensor, _ in known], array("Q", [of.path for _, of in known])
        self._gradients(parameters, paths)

    def gradients_of(self, optimizer: Optimizer) -> None:
        """Labels the accumulated gradients of the parameters that `optimizer` steps."""
        parameters = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        known = [self._parameters.get(tensor) for tensor in parameters]
        self._gradients(parameters, array("Q", [of.path if of is not None else 0 for of in known]))

    def _make_order(self) -> tuple[list[weakref.ref[Tensor]], array[int]]:
        known = self._parameters.references()
        self._order = [reference for reference, _ in known], array("Q", [of.path for _, of in known])
        return self._order

    def _gradients(self, parameters: list[Tensor], paths: array[int]) -> None:
        """Labels gradients through the shim, which leaves those of Python classes to this method."""
        tensors = array("Q", [tensor._cdata for tensor in parameters])
        left = array("Q", bytes(8 * len(parameters)))
        words = (each.buffer_info()[0] for each in (tensors, paths, left))
        count = self._label_gradients(*words, len(parameters))
        said = _Ranges()
        for place in left[:count]:
            said.add_gradient(parameters[place], paths[place])
        self._core.relabel_all(ROLE_GRADIENT, said.words)

    def forget(self, tensors: tuple[Tensor, ...], known: list[tuple[Tensor, _Parameter]]) -> None:
        """Drops the references to tensors; puts the facts about them into `known`."""
        self._order = None
        for tensor in tensors:
            parameter = self._parameters.pop(tensor)
            if parameter is not None:
                known.append((tensor, parameter))

    def restore(self, known: list[tuple[Tensor, _Parameter]]) -> None:
        """Restores the facts, with the memory that the tensors have now."""
        for tensor, parameter in known:
            self._parameters.set(tensor, parameter)
            self._relabel(tensor, parameter.role, parameter.path)

    def optimizer(self, optimizer: Optimizer) -> None:
        """Notes that `optimizer` exists; its states are labelled at the next opportunity.

        Stepped tensors that no module holds are also parameters: a single tensor, or the fp32 copy that DeepSpeed and
        others step in place of the model's low-precision one.
        """
        if self._optimizers.get(optimizer) is not None:
            return
        self._optimizers.set(optimizer, 0)
        for number, group in enumerate(optimizer.param_groups):
            for tensor in group["params"]:
                if self._parameters.get(tensor) is None:
                    self.parameter(tensor, f"param_groups[{number}]")

    def optimizer_states(self, optimizer: Optimizer, *, again: bool = False) -> None:
        """Labels the states of `optimizer`, if there are new ones since the last call (or `again`)."""
        count = len(optimizer.state)
        if count == self._optimizers.get(optimizer) and not again:
            return
        said = _Ranges()
        for parameter, state in list(optimizer.state.items()):
            known = self._parameters.get(parameter)
            path = known.path if known is not None else 0
            for value in list(state.values()) if isinstance(state, dict) else ():
                if hasattr(value, "data_ptr") and value.is_cuda:
                    said.add(value, path, parameter)
        self._core.relabel_all(ROLE_OPTIMIZER_STATE, said.words)
        self._optimizers.set(optimizer, count)

    def label_everything(self) -> None:
        """Labels all parameters, gradients and states: before an out-of-memory is recorded, and at the end.

        Models that were loaded but never called get names for their parts only now.
        """
        for root in self.roots.alive():
            try:
                self.module(root)
            except Exception as error:  # if a model cannot list its parts, others still can
                raise_if_from_outside(error)
        for tensor, parameter in self._parameters.items():
            if tensor.is_cuda:
                self._relabel(tensor, parameter.role, parameter.path)
        self.gradients()
        for optimizer, _labelled in self._optimizers.items():
            self.optimizer_states(optimizer, again=True)

    def of_deleted_models(self) -> list[Tensor]:
        """Lists the parameters whose models are gone and that no optimizer steps.

        Call it after `label_everything`, which looks at all living models.
        """
        stepped = {
            id(tensor)
            for optimizer, _labelled in self._optimizers.items()
            for group in optimizer.param_groups
            for tensor in group["params"]
        }
        known = self._parameters.items()
        return [tensor for tensor, of in known if of.is_of_deleted_model and id(tensor) not in stepped]

    def _relabel(self, tensor: Tensor, role: int, path: int) -> None:
        said = _Ranges()
        said.add(tensor, path)
        self._core.relabel_all(role, said.words)


class _Ranges:
    """Ranges of one role that are stated together, because a call for each of a step's gradients would cost most."""

    def __init__(self) -> None:
        self.words = array("Q")

    def add(self, tensor: Tensor, path: int, parameter: Tensor | None = None) -> None:
        """Adds a range. A tensor without an owner gets that of `parameter`, which it belongs to."""
        if is_fake(tensor):
            return
        try:
            own, of = local_part(tensor), local_part(parameter)
            address, device = own.data_ptr(), own.get_device()
            if address and device >= 0:
                serves = of.data_ptr() if of is not None and of.is_cuda else 0
                self.words.extend((device, address, own.nbytes, serves, path))
        except Exception as error:  # sparse, wrapped or not initialised: it is not one range
            raise_if_from_outside(error)

    def add_gradient(self, parameter: Tensor, path: int) -> None:
        gradient = parameter.grad if is_leaf(parameter) else None
        if gradient is not None and gradient.is_cuda:
            self.add(gradient, path, parameter)


_is_spread: dict[type, bool] = {}  # by class: it takes long to find that an attribute is missing


def local_part(tensor: Tensor) -> Tensor:
    """Returns the part on this card of a tensor that is spread over several (DTensor)."""
    kind = type(tensor)
    spread = _is_spread.get(kind)
    if spread is None:
        spread = _is_spread[kind] = hasattr(kind, "_local_tensor")
    return tensor._local_tensor if spread else tensor


def is_fake(tensor: Tensor) -> bool:
    """True if it has no memory: such a tensor warns the user when its address is read."""
    return type(tensor).__name__ == "FakeTensor"


def tensors_in(value: object, depth: int) -> Iterator[Tensor]:
    """Yields the tensors in nested sequences and mappings (a dict, a BatchEncoding), `depth` levels deep."""
    if hasattr(value, "untyped_storage"):
        yield value
    elif depth and isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item, depth - 1)
    elif depth and isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item, depth - 1)
