# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""higher's monkeypatch for models of transformers 5, which slice a ModuleList; a patched one raises an error."""

import torch
from higher.patch import monkeypatch

__all__ = ["monkeypatch"]

_item = torch.nn.ModuleList.__getitem__


def _item_or_slice(modules: torch.nn.ModuleList, index: int | slice) -> object:
    if isinstance(index, slice):
        return list(modules.children())[index]
    return _item(modules, index)


torch.nn.ModuleList.__getitem__ = _item_or_slice
