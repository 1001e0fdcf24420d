# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A small transformer trained with AdamW: uses memory like a large one, in two seconds. Prints a JSON line."""

import json

import torch
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, device="cuda")
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    del layer  # it was copied
    model = nn.ModuleDict({"encoder": model, "head": nn.Linear(512, 4096)}).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for length in (128, 200, 96):
        x = torch.randn(8, length, 512, device="cuda")
        loss = nn.functional.cross_entropy(
            model["head"](model["encoder"](x)).flatten(0, 1), torch.zeros(8 * length, dtype=torch.long, device="cuda")
        )
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del loss, x
    statistics = torch.cuda.memory_stats()
    print(
        json.dumps(
            {
                "parameters": sum(p.nbytes for p in model.parameters()),
                "requested_peak": statistics["requested_bytes.all.peak"],
                "requested_now": statistics["requested_bytes.all.current"],
                "reserved_now": statistics["reserved_bytes.all.current"],
                "allocated_now": statistics["allocated_bytes.all.current"],
            }
        )
    )
    globals()["kept"] = (model, optimizer)  # alive until after the trace is closed


if __name__ == "__main__":
    main()
