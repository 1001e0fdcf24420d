# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lets host values see the operators on results of functional collectives.

Such a result is an AsyncCollectiveTensor, which handles its operators in Python. torch excludes there all dispatch keys
above Python's, and so those of host values: `.item()` would read 0.0.
"""

import functools
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

if TYPE_CHECKING:
    from torch._C import DispatchKeySet


def watch(torch: ModuleType, entered: "DispatchKeySet") -> None:
    """Makes the keys in `entered` be called for these operators, once torch's module is imported."""
    when_imported("torch.distributed._functional_collectives", lambda module: _see_operators(torch, module, entered))


def _see_operators(torch: ModuleType, module: ModuleType, entered: "DispatchKeySet") -> None:
    handle = module.AsyncCollectiveTensor.__torch_dispatch__.__func__
    included, excluded = torch._C._dispatch_tls_local_include_set, torch._C._dispatch_tls_local_exclude_set

    @functools.wraps(handle)
    def handle_seen(cls: type, *args: object, **kwargs: object) -> object:
        with torch._C._ForceDispatchKeyGuard(included(), excluded() - entered):
            return handle(cls, *args, **kwargs)

    patches.put(
        module.AsyncCollectiveTensor,
        "__torch_dispatch__",
        classmethod(handle_seen),
        "torch.distributed._functional_collectives.AsyncCollectiveTensor.__torch_dispatch__: host values see inside",
    )
