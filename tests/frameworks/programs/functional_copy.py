# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A functional copy of a model beside the model, as in meta-learning. Usage: functional_copy.py func|higher."""

import sys

import memtrace
import torch
from figures import on_card, tell

model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)).cuda()
x = torch.ones(4, 512, device="cuda")
with memtrace.tag("edited_model"):
    if sys.argv[1] == "func":
        edited = {name: parameter.detach().clone().requires_grad_() for name, parameter in model.named_parameters()}
        loss = torch.func.functional_call(model, edited, (x,)).square().sum()
        kept = list(edited.values())
    else:
        import higher

        edited = higher.patch.monkeypatch(model, copy_initial_weights=True)
        kept = list(edited.parameters())
        loss = edited(x).square().sum()
gradients = torch.autograd.grad(loss, kept)
model(x).sum().backward()
tell(parameters=on_card(model.parameters()), copies=on_card(kept))
