# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models whose linear layers hold 4 or 8 bits a weight, by bitsandbytes, made on a card one layer at a time."""

from collections.abc import Callable

import bitsandbytes as bnb
import torch
from weightless import Model, described


def quantized_on_card(make: Callable[[], Model], bits: int, device: torch.device) -> Model:
    """Quantizes like a BitsAndBytesConfig: all linear layers but the head, 4 bits as nf4 in bf16."""
    model = described(make)
    for name, module in list(model.named_modules()):
        if type(module) is torch.nn.Linear and name != "lm_head":
            owner, _, own = name.rpartition(".")
            setattr(model.get_submodule(owner), own, _quantized(module, bits, device))
    _fill(model, device)
    model.tie_weights()
    return model


def _quantized(linear: torch.nn.Linear, bits: int, device: torch.device) -> torch.nn.Module:
    shape = (linear.in_features, linear.out_features, linear.bias is not None)
    weight = torch.empty(linear.weight.shape, dtype=torch.bfloat16)  # on the host: quantized on its way to the card
    if bits == 4:
        layer = bnb.nn.Linear4bit(*shape, compute_dtype=torch.bfloat16, quant_type="nf4", device="meta")
        layer.weight = bnb.nn.Params4bit(weight, requires_grad=False, quant_type="nf4")
    else:
        layer = bnb.nn.Linear8bitLt(*shape, has_fp16_weights=False, device="meta")
        layer.weight = bnb.nn.Int8Params(weight, requires_grad=False, has_fp16_weights=False)
    return layer.to(device)


def _fill(model: torch.nn.Module, device: torch.device) -> None:
    """Allocates all tensors that are still without memory on the card."""
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.is_meta:
                empty = torch.empty_like(parameter, device=device)
                setattr(module, name, torch.nn.Parameter(empty, parameter.requires_grad))
        for name, buffer in module.named_buffers(recurse=False):
            if buffer.is_meta:
                setattr(module, name, torch.empty_like(buffer, device=device))
