# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""transformers reads masks and tokens back and branches on them: with host values it branches as on a GPU."""

import pytest
from support.programs import on_card

ON = ("--host-values", "on")

pytest.importorskip("transformers", reason="transformers is not installed")

MODEL = """
import json, torch
from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM
config = Qwen3Config(vocab_size=1000, hidden_size=256, intermediate_size=512, num_hidden_layers=2,
                     num_attention_heads=4, num_key_value_heads=2, head_dim=64, eos_token_id=7, pad_token_id=8)
model = Qwen3ForCausalLM(config).to("cuda", torch.bfloat16)
ids = torch.randint(10, 900, (2, 512)).cuda()
"""
FORWARD = (
    MODEL
    + """
out = model(input_ids=ids, attention_mask=torch.ones_like(ids) if MASK else None, use_cache=False)
print(json.dumps(torch.cuda.memory_allocated()))
"""
)
GENERATE = (
    MODEL
    + """
ids = ids[:, :16]
made = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids),
                      generation_config=GenerationConfig(max_new_tokens=6, do_sample=False, eos_token_id=EOS,
                                                         pad_token_id=8))
print(json.dumps([list(made.shape), made[:, :16].cpu().equal(ids.cpu())]))
"""
)


def test_mask_without_padding_costs_no_memory(tmp_path):
    def held(mask: bool, *options: str) -> int:
        return int(on_card(f"MASK = {mask}\n" + FORWARD, tmp_path, options=options).printed())

    with_mask = held(True, *ON)
    assert with_mask == held(False, *ON)
    assert with_mask < held(True, "--host-values", "off")


def test_generate_stops_at_its_length_without_unknown_reads(tmp_path):
    done = on_card("EOS = 7\n" + GENERATE, tmp_path, options=ON)
    assert done.printed() == [[2, 22], True]
    assert done.report()["simulated"]["host_values"]["reads"]["unknown"] == 0


def test_forced_length_does_not_depend_on_tokens(tmp_path):
    """The first token counts as the largest: with end token 0, generate stops at once unless the length is forced."""
    assert on_card("EOS = 0\n" + GENERATE, tmp_path, options=ON).printed() == [[2, 17], True]
    forced = on_card("EOS = 0\n" + GENERATE, tmp_path, options=(*ON, "--generate-length", "9"))
    assert forced.printed() == [[2, 25], True]


EXPERTS = """
import json, torch
from torch.nn import functional
from transformers import MixtralConfig, MixtralForCausalLM
config = MixtralConfig(vocab_size=2000, hidden_size=256, intermediate_size=512, num_hidden_layers=1,
                       num_attention_heads=4, num_key_value_heads=2, num_local_experts=8, num_experts_per_tok=2)
model = MixtralForCausalLM._from_config(config, experts_implementation="eager").cuda()
linear, shares = functional.linear, []
def noted(x, weight, bias=None):
    if tuple(weight.shape) == (2 * config.intermediate_size, config.hidden_size):
        shares.append(len(x))
    return linear(x, weight, bias)
functional.linear = noted
model(input_ids=torch.randint(0, 2000, (4, 100)).cuda(), use_cache=False)
print(json.dumps(shares))
"""


def test_router_is_balanced_unless_a_policy_says_otherwise(tmp_path):
    done = on_card(EXPERTS, tmp_path)
    assert done.printed() == [100] * 8
    reads = done.report()["simulated"]["host_values"]["reads"]
    assert reads["unknown"] == 0 and reads["assumed"] > 0
    grouped = EXPERTS.replace('experts_implementation="eager"', 'experts_implementation="grouped_mm"')
    done = on_card(grouped, tmp_path)
    assert done.printed() == []  # its products are those of one operator
    reads = done.report()["simulated"]["host_values"]["reads"]
    assert (reads["assumed"], reads["unknown"]) == (0, 0)
    policy = tmp_path / "worst.policy"
    policy.write_text("aten::topk result first\n")
    assert on_card(EXPERTS, tmp_path, options=("--host-values", str(policy))).printed() == [400, 400]
