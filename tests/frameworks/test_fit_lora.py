# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""LoRA added to programs that train whole models: the optimizer gets the adapters, and the program goes on."""

from pathlib import Path

from frameworks_under_test import PYTHON, needs_frameworks
from support.fit_changes import changed_places
from support.programs import on_card

pytestmark = needs_frameworks

GPT2 = """
import json, torch
from transformers import GPT2Config, GPT2LMHeadModel
said = {}
with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config(n_embd=256, n_layer=4, n_head=4, vocab_size=2000)).bfloat16()
head = torch.nn.Linear(2000, 1).cuda()  # a module of its own beside it
groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
          {"params": (p for p in model.parameters() if p.dim() == 1)}, {"params": list(head.parameters())}]
optimizer = torch.optim.AdamW(groups, lr=1e-4)
tokens = torch.randint(2000, (4, 64), device="cuda")
for _ in range(2):
    out = model(input_ids=tokens, labels=tokens)
    (out.loss + head(out.logits.float()).mean()).backward()
    optimizer.step()
    optimizer.zero_grad()
model.generate(tokens[:1, :4], max_new_tokens=2)
said["groups"] = [sum(p.numel() for p in group["params"]) for group in optimizer.param_groups]
said["dtypes"] = sorted({str(p.dtype) for group in optimizer.param_groups for p in group["params"]})
said["trained"] = sum(p.numel() for p in model.parameters() if p.requires_grad)
said["decay"] = optimizer.param_groups[0]["weight_decay"]
said["states"] = len(optimizer.state)
print(json.dumps(said))
"""
OTHERS = """
import json, torch
from torch import nn
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda()
bare = nn.BatchNorm1d(256).cuda()
free = nn.Parameter(torch.zeros(4, device="cuda"))
said = {}
optimizer = torch.optim.SGD(model.named_parameters(), lr=0.1)
plain = torch.optim.SGD([*bare.parameters(), free], lr=0.1)
again = torch.optim.SGD(model.parameters(), lr=0.1)
for wrong in (free, [], [1]):
    try:
        torch.optim.Adam(wrong)
    except (TypeError, ValueError) as error:  # torch's own sentences
        said[str(wrong)[:9]] = str(error)[:18]
model(torch.ones(4, 256, device="cuda")).sum().backward()
optimizer.step()
said["names"] = sorted(optimizer.param_groups[0]["param_names"])
said["plain"] = len(plain.param_groups[0]["params"])
said["again"] = len(again.param_groups[0]["params"])
print(json.dumps(said))
"""


def run(script: str, folder: Path, change: str) -> tuple[dict, int]:
    offline = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    done = on_card(script, folder, python=PYTHON, MEMTRACE_FIT_CHANGES=change, **offline)
    assert "memtrace: " not in done.err, done.err
    return done.printed(), changed_places(done.trace, "lora")


def test_transformers_models_get_adapters_in_pefts_layers(tmp_path):
    for change, rank in (("lora", 16), ("lora=4", 4)):
        said, places = run(GPT2, tmp_path, change)
        adapters = 4 * rank * (256 + 3 * 256)  # c_attn, four times
        assert said["groups"] == [adapters, 0, 2001] and said["trained"] == adapters
        assert said["dtypes"] == ["torch.float32"]
        assert said["decay"] == 0.1 and said["states"] == 4 * 2 + 2
        assert places == 1


def test_other_modules_get_adapters_in_linear_layers(tmp_path):
    said, places = run(OTHERS, tmp_path, "lora")
    assert said["names"] == [f"{i}.lora_{ab}.default.weight" for i in (0, 2) for ab in "AB"]
    assert (said["plain"], said["again"], places) == (3, 4, 1)
    assert said["Parameter"] == "params argument gi" and said["[]"] == "optimizer got an e"
    assert said["[1]"] == "optimizer can only"
