# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trainings without a script: models of transformers, from their configs alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MEMTRACE, ROOT, Finished, on_card

pytest.importorskip("transformers", reason="transformers is not installed")

PROGRAM = ROOT / "tests/support/estimated_configs.py"
OFFLINE = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT / "tests")}

LAYERS = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
TEXT = {**LAYERS, "vocab_size": 300}
VISION = {"depth": 2, "embed_dim": 64, "hidden_size": 64, "num_heads": 4}
LLAMA = {**TEXT, "model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_key_value_heads": 2}
BERT = {**TEXT, "model_type": "bert", "architectures": ["BertForQuestionAnswering"]}
VIT = {**LAYERS, "model_type": "vit", "architectures": ["ViTForImageClassification"], "image_size": 32, "patch_size": 8}
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 256, "n_layer": 4, "n_head": 4}
GPT2 |= {"vocab_size": 1000, "n_positions": 1050, "bos_token_id": 1, "eos_token_id": 1}
# GPT2_PARAMETERS: two tables, one shared with the head; four layers of 12 matrices and 13 vectors; the last norm. fp32.
CUBLAS_WORKSPACE = 8519680
GPT2_PARAMETERS = 2050 * 256 + 4 * (12 * 256**2 + 13 * 256) + 2 * 256
T5 = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 64, "d_ff": 128, "d_kv": 16}
T5 |= {"num_layers": 2, "num_heads": 4, "vocab_size": 300}
QWEN2_VL = {
    "model_type": "qwen2_vl",
    "architectures": ["Qwen2VLForConditionalGeneration"],
    "text_config": {**TEXT, "num_key_value_heads": 2, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}},
    "vision_config": VISION,
    "image_token_id": 290,
    "video_token_id": 291,
    "vision_start_token_id": 292,
    "vision_end_token_id": 293,
}
REWARD = {**LLAMA, "architectures": ["LlamaForSequenceClassification"]}

CASES: list[tuple[str, object, list[str]]] = [
    ("llama", LLAMA, ["--batch", "2", "--seq", "100", "--dtype", "bf16"]),
    ("llama_long", LLAMA, ["--batch", "8", "--seq", "1024"]),
    ("llama_checkpointing", LLAMA, ["--batch", "8", "--seq", "1024", "--checkpointing"]),
    ("reward", REWARD, ["--batch", "2"]),
    ("bert", BERT, ["--optimizer", "adamw-fused"]),
    ("t5", T5, ["--optimizer", "adafactor"]),
    ("vit", VIT, ["--batch", "3", "--optimizer", "sgd"]),
    ("qwen2_vl", QWEN2_VL, ["--batch", "2", "--shape", "pixel_values=64x1176"]),
    ("gpt2", GPT2, ["--seq", "8"]),
    ("gpt2_sgd", GPT2, ["--seq", "8", "--optimizer", "sgd"]),
    ("gpt2_copy", GPT2, ["--seq", "8", "--frozen-copy"]),
    ("gpt2_forward", GPT2, ["--seq", "8", "--optimizer", "none"]),
    ("too_long", GPT2, ["--seq", "1051"]),
    ("no_option", LLAMA, ["--bacth", "2"]),
    ("no_shape", LLAMA, ["--shape", "input_ids=2,3"]),
    ("no_input", LLAMA, ["--shape", "pixels=2x3"]),
    ("contradiction", LLAMA, ["--optimizer", "none", "--lora", "4"]),
    ("no_config", None, []),
    ("no_json", "{", []),
    ("no_type", {"hidden_size": 4}, []),
    ("unknown_type", {"model_type": "gpt17"}, []),
    ("unknown_class", {**LLAMA, "architectures": ["LlamaForDreams"]}, []),
    ("cannot_be_built", {**LLAMA, "hidden_act": "cosine"}, []),
    ("quantized", {**LLAMA, "quantization_config": {"quant_method": "gptq"}}, []),
]


def run_cases(
    folder: Path, cases: list[tuple[str, object, list[str]]], python: Path = Path(sys.executable)
) -> Finished:
    (folder / "cases.json").write_text(
        json.dumps([[name, config, ["--steps", "2", *words]] for name, config, words in cases])
    )
    return on_card(PROGRAM, folder, str(folder / "cases.json"), card="24GiB", python=python, **OFFLINE)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return run_cases(tmp_path_factory.mktemp("configs"), CASES)


@pytest.fixture(scope="module")
def found(finished: Finished) -> JsonObject:
    return finished.printed()


@pytest.mark.parametrize(
    ("name", "model", "inputs"),
    [
        (
            "llama",
            "LlamaForCausalLM, 112,448 parameters, bfloat16",
            "input_ids 2x100, attention_mask 2x100, labels 2x100",
        ),
        (
            "reward",
            "LlamaForSequenceClassification, 93,376 parameters, float32",
            "input_ids 2x512, attention_mask 2x512, labels 2",
        ),
        (
            "bert",
            "BertForQuestionAnswering, 119,298",
            "input_ids 1x512, attention_mask 1x512, start_positions 1, end_positions 1",
        ),
        (
            "t5",
            "T5ForConditionalGeneration",
            "input_ids 1x512, attention_mask 1x512, decoder_input_ids 1x512, labels 1x512",
        ),
        ("vit", "ViTForImageClassification", "pixel_values 3x3x32x32, labels 3"),
        (
            "qwen2_vl",
            "Qwen2VLForConditionalGeneration",
            "pixel_values 64x1176, image_grid_thw 2x3, mm_token_type_ids 2x512",
        ),
        ("gpt2_forward", "GPT2LMHeadModel, 3,684,352 parameters", "input_ids 1x8, attention_mask 1x8"),
    ],
)
def test_model_is_built_and_run_from_its_config(found: JsonObject, name: str, model: str, inputs: str) -> None:
    assert found[name]["code"] == 0, found[name]
    assert found[name]["lines"][0].startswith(model)
    assert inputs in found[name]["lines"][1]


def test_options_change_the_need(found: JsonObject) -> None:
    peak = {name: case["peak"] for name, case in found.items()}
    parameters, small = 4 * GPT2_PARAMETERS, 4 << 20
    assert peak["gpt2"] == pytest.approx(5 * parameters, abs=small)  # with AdamW's temporary copy; tied ones once
    assert peak["gpt2_copy"] == pytest.approx(6 * parameters, abs=small)
    # The first case makes cuBLAS's workspace and torch keeps it; since 2.15 each product takes one and gives it back.
    assert 2 * parameters - small <= peak["gpt2_sgd"] <= 2 * parameters + small + CUBLAS_WORKSPACE
    assert parameters - small <= peak["gpt2_forward"] <= parameters + small + CUBLAS_WORKSPACE
    assert peak["llama_checkpointing"] < peak["llama_long"]


def test_frozen_copy_is_an_owner(tmp_path: Path) -> None:
    finished = run_cases(tmp_path, [("gpt2_copy", GPT2, ["--seq", "8", "--frozen-copy"])])
    owners = {row["name"]: row["bytes"] for row in finished.report()["peak"]["by_owner"]}
    # The copy also holds the workspace of the card's first product, which torch keeps before 2.15.
    beside = owners["frozen_copy"] - 4 * GPT2_PARAMETERS
    assert 0 <= beside <= CUBLAS_WORKSPACE + (2 << 20)


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("no_option", 2, "unrecognized arguments: --bacth"),
        ("no_shape", 2, "write it as hidden_states="),
        ("no_input", 2, "has no such input. Its inputs are input_ids"),
        ("contradiction", 2, "are for training"),
        ("too_long", 3, "1051 tokens are more than the 1050 positions of transformer.wpe"),
        ("no_config", 3, "has neither config.json nor model_index.json"),
        ("no_json", 3, "cannot be read as JSON"),
        ("no_type", 3, "neither a model_type nor a _class_name"),
        ("unknown_type", 3, "'gpt17'"),
        ("unknown_class", 3, "no class 'LlamaForDreams'"),
        ("cannot_be_built", 3, "cannot be built from this config: "),
        ("quantized", 3, "Remove quantization_config"),
    ],
)
def test_model_that_cannot_be_built_prints_one_sentence(found: JsonObject, name: str, code: int, says: str) -> None:
    assert found[name]["code"] == code
    assert len(found[name]["said"]) == 1
    assert says in found[name]["said"][0]


def test_fit_lists_the_parts_of_an_estimate(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(GPT2))
    program = [sys.executable, "-m", "memtrace.estimate_program", str(tmp_path), "--seq", "8"]
    command = [str(MEMTRACE), "fit", "--json", "--no-remedies", "--card", "550MiB", "--", *program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stderr  # 4 x 14 MiB and 500 MiB of context
    answer = json.loads(done.stdout)
    parts = {part["name"]: part["bytes"] for part in answer["parts"]}
    assert parts["parameters"] == parts["gradients"] == 4 * GPT2_PARAMETERS
    assert parts["optimizer states"] == pytest.approx(2 * parts["parameters"], rel=0.01)
    assert answer["first_failure"]["phase"] == "optimizer"
