# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which tensor is a parameter, a gradient, an optimizer state: said to the recorder by address range."""

from typing import Any

from memtrace._core import ROLE_GRADIENT, ROLE_OPTIMIZER_STATE, ROLE_PARAMETER, Core
from memtrace._identity_map import IdentityMap

Tensor = Any


class _Parameter:
    """What is known of a parameter: its path, by number, and how long that is."""

    __slots__ = ("length", "path")

    def __init__(self) -> None:
        self.length = -1
        self.path = 0


class Labels:
    """States roles. Saying again what is known is cheap, so each call may repeat what was said before."""

    def __init__(self, core: Core) -> None:
        """Says everything to `core`."""
        self._core = core
        self._parameters: IdentityMap[_Parameter] = IdentityMap()
        self._optimizers: IdentityMap[int] = IdentityMap()  # how many states are labelled

    def parameter(self, tensor: Tensor, path: str) -> None:
        """`tensor` is the parameter `path`; the longest path heard of a parameter is kept."""
        if not tensor.is_cuda:
            return
        path = path.replace("_orig_mod.", "")  # torch.compile's wrapper is no part of the model
        known = self._parameters.get(tensor)
        if known is None:
            known = _Parameter()
            self._parameters.set(tensor, known)
        if len(path) > known.length:
            known.length, known.path = len(path), self._core.intern(path)
        self._say(tensor, ROLE_PARAMETER, known.path)

    def module_parameters(self, module: Any, prefix: str = "") -> None:
        """Every parameter of `module` with its full path."""
        for name, tensor in module.named_parameters(remove_duplicate=True):
            self.parameter(tensor, f"{prefix}.{name}" if prefix else name)

    def gradients(self) -> None:
        """The accumulated gradients of all known parameters."""
        for tensor, parameter in self._parameters.items():
            gradient = tensor.grad if tensor.is_leaf else None
            if gradient is not None and gradient.is_cuda:
                self._say(gradient, ROLE_GRADIENT, parameter.path)

    def optimizer(self, optimizer: Any) -> None:
        """`optimizer` exists; its states are labelled at the next opportunity.

        What it steps and no module holds is a parameter too: a tensor on its own, or the fp32 copy that DeepSpeed and
        others step in place of the model's low-precision one.
        """
        if self._optimizers.get(optimizer) is not None:
            return
        self._optimizers.set(optimizer, 0)
        for number, group in enumerate(optimizer.param_groups):
            for tensor in group["params"]:
                if self._parameters.get(tensor) is None:
                    self.parameter(tensor, f"param_groups[{number}]")

    def optimizer_states(self, optimizer: Any, *, again: bool = False) -> None:
        """The states of `optimizer`, if there are new ones since the last call (or `again`)."""
        count = len(optimizer.state)
        if count == self._optimizers.get(optimizer) and not again:
            return
        for parameter, state in list(optimizer.state.items()):
            known = self._parameters.get(parameter)
            path = known.path if known is not None else 0
            for value in list(state.values()) if isinstance(state, dict) else ():
                if hasattr(value, "data_ptr") and value.is_cuda:
                    self._say(value, ROLE_OPTIMIZER_STATE, path)
        self._optimizers.set(optimizer, count)

    def label_everything(self) -> None:
        """All parameters, gradients and states: before an out-of-memory is recorded, and at the end."""
        for tensor, parameter in self._parameters.items():
            if tensor.is_cuda:
                self._say(tensor, ROLE_PARAMETER, parameter.path)
        self.gradients()
        for optimizer, _labelled in self._optimizers.items():
            self.optimizer_states(optimizer, again=True)

    def _say(self, tensor: Tensor, role: int, path: int) -> None:
        try:
            address = int(tensor.data_ptr())
            size = tensor.nbytes
        except Exception:  # sparse, fake, wrapped or not initialised: it has no one range
            return
        if address:
            self._core.relabel(tensor.device.index, address, size, role, 0, path)
