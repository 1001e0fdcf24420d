# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trainings without a script that need diffusers, peft or bitsandbytes."""

import json

import pytest
from frameworks_under_test import PYTHON, needs_frameworks
from support.programs import ROOT, on_card

pytestmark = needs_frameworks

PROGRAM = ROOT / "tests/support/estimated_configs.py"
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 256, "n_layer": 4, "n_head": 4}
GPT2 |= {"vocab_size": 1000, "bos_token_id": 1, "eos_token_id": 1}
UNET = {
    "_class_name": "UNet2DConditionModel",
    "sample_size": 16,
    "block_out_channels": [32, 64],
    "layers_per_block": 1,
    "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
    "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
    "cross_attention_dim": 32,
    "norm_num_groups": 8,
}
COGVIDEOX = {
    "_class_name": "CogVideoXTransformer3DModel",
    "num_attention_heads": 2,
    "attention_head_dim": 16,
    "num_layers": 2,
    "text_embed_dim": 32,
    "time_embed_dim": 8,
    "sample_width": 8,
    "sample_height": 8,
    "sample_frames": 9,
    "max_text_seq_length": 12,
    "use_rotary_positional_embeddings": True,
}
WAN = {"_class_name": "WanTransformer3DModel", "num_attention_heads": 2, "attention_head_dim": 16, "num_layers": 1}
WAN |= {"text_dim": 32, "freq_dim": 32, "ffn_dim": 64}

CASES = [
    ("adamw", GPT2, []),
    ("adamw_8bit", GPT2, ["--optimizer", "adamw-8bit"]),
    ("lora", GPT2, ["--lora", "4", "--checkpointing"]),
    ("unet", UNET, ["--batch", "2", "--checkpointing"]),
    ("unet_lora", UNET, ["--lora", "4"]),
    ("cogvideox", COGVIDEOX, ["--batch", "2", "--frozen-copy"]),
    ("cogvideox_larger", COGVIDEOX, ["--shape", "hidden_states=1x3x16x16x16"]),
    ("wan", WAN, []),
    ("wan_with_shape", WAN, ["--shape", "hidden_states=1x16x3x8x8"]),
    ("no_such_class", {"_class_name": "DreamTransformer"}, []),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("configs")
    cases = [[name, config, ["--steps", "2", *words]] for name, config, words in CASES]
    (folder / "cases.json").write_text(json.dumps(cases))
    return on_card(
        PROGRAM, folder, str(folder / "cases.json"), python=PYTHON, HF_HUB_OFFLINE="1", PYTHONPATH=str(ROOT / "tests")
    ).printed()


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("unet", "sample 2x4x16x16, timestep 2, encoder_hidden_states 2x77x32"),
        ("unet_lora", "sample 1x4x16x16"),
        (
            "cogvideox",
            "hidden_states 2x3x16x8x8, timestep 2, encoder_hidden_states 2x12x32, image_rotary_emb (48x16, 48x16)",
        ),
        ("cogvideox_larger", "image_rotary_emb (192x16, 192x16)"),
        ("wan_with_shape", "hidden_states 1x16x3x8x8, timestep 1, encoder_hidden_states 1x512x32"),
    ],
)
def test_denoisers_are_built_and_trained(found, name, inputs):
    assert found[name]["code"] == 0, found[name]
    assert found[name]["lines"][1].startswith(inputs) or inputs in found[name]["lines"][1]


def test_smaller_states_and_adapters_need_less(found):
    assert found["adamw_8bit"]["code"] == found["lora"]["code"] == 0, found
    assert found["lora"]["peak"] < found["adamw_8bit"]["peak"] < found["adamw"]["peak"]


def test_unknown_models_and_shapes_are_asked_for(found):
    assert found["wan"]["code"] == found["no_such_class"]["code"] == 3
    assert "Give the shape of the latents: --shape hidden_states=" in found["wan"]["said"][0]
    assert "has no model 'DreamTransformer'" in found["no_such_class"]["said"][0]
