# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets torch's higher-order operators pass by the dispatch keys of host values.

Higher-order operators (flex_attention, cond, recomputed attention under torch.compile) are dispatched in Python and
know no fallbacks, so they would fail at a key for which they have no kernel.
"""

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch._C import DispatchKey, DispatchKeySet


def pass_by(torch: ModuleType, entered: "DispatchKeySet") -> None:
    """Makes every higher-order operator, also those that are defined later, ignore the keys in `entered`.

    A kernel that an operator registers at one of these keys is still called.
    """
    keys = _keys(entered)
    torch._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS.extend(keys)
    for operator in torch._ops._higher_order_ops.values():
        for key in keys:
            if key not in operator.py_kernels:
                operator.fallthrough(key)


def _keys(entered: "DispatchKeySet") -> "list[DispatchKey]":
    keys = []
    while entered.raw_repr():
        keys.append(entered.highestPriorityTypeId())
        entered = entered.remove(keys[-1])
    return keys
