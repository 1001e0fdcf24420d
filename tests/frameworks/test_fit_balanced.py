# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Models spread over two cards, and models that stay on one."""

from pathlib import Path

import pytest
from frameworks_under_test import PYTHON, needs_frameworks
from frameworks_under_test import run as run_program
from support.fit_changes import changed_places
from support.programs import MIB, on_card

pytestmark = needs_frameworks

MAKE = """
import json, sys, torch
from transformers import GPT2Config, GPT2LMHeadModel, Qwen3Config, Qwen3ForCausalLM
def make():
    return Qwen3ForCausalLM(Qwen3Config(vocab_size=4000, hidden_size=512, intermediate_size=2048, num_hidden_layers=8,
                            num_attention_heads=8, num_key_value_heads=4, head_dim=64, tie_word_embeddings=True))
"""
PLACE = {
    "to": "model = make().to('cuda', torch.bfloat16).cuda()",
    "to_empty": """
with torch.device("meta"):
    model = make()
model = model.to_empty(device="cuda")
model.tie_weights()
""",
    "from_pretrained": """
import os
folder = os.path.join(os.path.dirname(sys.argv[0]), "model")
make().save_pretrained(folder)
model = Qwen3ForCausalLM.from_pretrained(folder).to("cuda")
""",
}
TRAIN = """
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
tokens = torch.randint(4000, (2, 64), device="cuda")
for _ in range(2):
    out = model(input_ids=tokens, labels=tokens)
    assert out.logits.device == tokens.device
    out.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
assert model.generate(tokens[:1, :4], max_new_tokens=3, min_new_tokens=3).shape == (1, 7)
said = {"parameters": sum(p.nbytes for p in model.parameters()), "dtype": str(model.dtype),
        "cards": [torch.cuda.max_memory_allocated(card) for card in range(torch.cuda.device_count())]}
print(json.dumps(said))
"""


def run(script: str, folder: Path, card: str = "2x24GiB") -> tuple[dict, int]:
    offline = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    done = on_card(script, folder, python=PYTHON, card=card, MEMTRACE_FIT_CHANGES="balanced", **offline)
    assert "memtrace: " not in done.err, done.err
    return done.printed(), changed_places(done.trace, "balanced")


@pytest.mark.parametrize("way", PLACE)
def test_model_is_spread_over_cards_however_it_is_placed(tmp_path, way):
    said, places = run(MAKE + PLACE[way] + TRAIN, tmp_path)
    assert places == 1
    assert said["dtype"] == ("torch.bfloat16" if way == "to" else "torch.float32")
    # Parameters, gradients and two states; the activations of so few tokens and cuBLAS' workspaces are small.
    assert all(1.2 * said["parameters"] < peak < 3.2 * said["parameters"] + 64 * MIB for peak in said["cards"])


def test_model_with_a_device_map_or_a_single_card_is_not_spread(tmp_path):
    script = MAKE + "model = make().cuda()\nmodel.to('cuda')\nmodel.to(torch.float16)\nmodel.to('cpu')\n"
    script += "print(json.dumps([p.device.type for p in model.parameters()]))\n"
    placed, places = run(script, tmp_path, card="24GiB")
    assert set(placed) == {"cpu"} and places == 0
    chosen = MAKE + PLACE["from_pretrained"].replace("(folder)", "(folder, device_map='cuda:1')", 2)
    chosen = chosen.replace("(folder, device_map='cuda:1')", "(folder)", 1).replace('.to("cuda")', "")
    chosen += "print(json.dumps([[p.device.index for p in m.parameters()] for m in (model, make().cuda())]))\n"
    (placed, spread), places = run(chosen, tmp_path)
    assert set(placed) == {1} and set(spread) == {0, 1} and places == 1


def test_trainer_gets_a_spread_model(tmp_path):
    done = run_program("trainer.py", tmp_path, card="2x24GiB", MEMTRACE_FIT_CHANGES="balanced")
    assert changed_places(done.trace, "balanced") == 1
    peaks = [device["peak"] for device in done.stats()["devices"]]
    assert len(peaks) == 2 and min(peaks) > 2 * done.printed()["parameters"] > 0.3 * max(peaks)
