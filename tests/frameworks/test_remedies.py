# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Remedies in a framework's own terms: each is named where its program runs out of memory."""

from pathlib import Path

from frameworks_under_test import PYTHON, needs_frameworks
from support.json_object import JsonObject
from support.programs import MIB, memtrace, on_card

pytestmark = needs_frameworks
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1", "OMP_NUM_THREADS": "1"}

MODEL = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM
config = LlamaConfig(vocab_size=8192, hidden_size=256, intermediate_size=512, num_hidden_layers=8,
                     num_attention_heads=4, num_key_value_heads=4, tie_word_embeddings=False)
"""
# Each layer keeps 4 x 2048 x 2048 weights of 4 bytes, 64 MiB, and as much again for a moment.
EAGER = """
config._attn_implementation = "{}"
model = LlamaForCausalLM(config).cuda()
words = torch.zeros(1, 2048, dtype=torch.long, device="cuda")
model(input_ids=words, labels=words).loss.backward()
"""
# Embedding and head, 8 MiB each, are copied and trained.
COPIED = """
from peft import LoraConfig, get_peft_model
adapters = LoraConfig(r=4, target_modules=["q_proj"], {})
model = get_peft_model(LlamaForCausalLM(config).cuda(), adapters)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], foreach=False)
words = torch.zeros(1, 16, dtype=torch.long, device="cuda")
model(input_ids=words, labels=words).loss.backward()
optimizer.step()
"""
# 60 batches of 64 x 4000 logits, 0.98 MiB each.
EVALUATED = """
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
class Items(torch.utils.data.Dataset):
    def __len__(self):
        return 60 * 64
    def __getitem__(self, i):
        return {{"input_ids": torch.full((8,), 1), "labels": 1}}
model = BertForSequenceClassification(BertConfig(num_labels=4000, num_hidden_layers=1, hidden_size=64,
                                                 num_attention_heads=4, intermediate_size=64, vocab_size=64))
arguments = TrainingArguments("out", per_device_eval_batch_size=64, report_to="none", {})
Trainer(model, arguments, eval_dataset=Items(), compute_metrics=lambda predictions: {{}}).evaluate()
"""
# Each update leaves 1 MiB of predictions and 2 MiB of targets.
METRIC = """
from torchmetrics.classification import BinaryAUROC
metric = BinaryAUROC({}).cuda()
model = torch.nn.Linear(16, 1).cuda()
for batch in range(100):
    with torch.no_grad():
        out = model(torch.zeros(1 << 18, 16, device="cuda")).squeeze(1)
    metric.update(out.sigmoid(), torch.ones(1 << 18, dtype=torch.long, device="cuda"))
"""


def told(script: str, folder: Path, card: str) -> tuple[list[JsonObject], str]:
    """Runs it out of memory. Returns the remedies and the text of the report."""
    card = f"{card},context=100MiB"
    done = on_card(
        MODEL + script, folder, python=PYTHON, card=card, expect=1, options=("--allocator", "memtrace"), **OFFLINE
    )
    return done.report()["remedies"], " ".join(memtrace("report", "--verbose", str(done.trace)).out.split())


def completes(script: str, folder: Path, card: str) -> None:
    on_card(MODEL + script, folder, python=PYTHON, card=f"{card},context=100MiB", **OFFLINE)


def test_eager_attention_has_a_remedy_and_sdpa_completes(tmp_path: Path) -> None:
    rows, _ = told(EAGER.format("eager"), tmp_path, "800MiB")
    assert rows[0]["name"] == "fused attention" and 'attn_implementation="sdpa"' in rows[0]["change"], rows
    completes(EAGER.format("sdpa"), tmp_path, "800MiB")


def test_modules_copied_by_peft_have_a_remedy(tmp_path: Path) -> None:
    copies = 'modules_to_save=["embed_tokens", "lm_head"]'
    rows, _ = told(COPIED.format(copies), tmp_path, "190MiB")
    row = next(row for row in rows if row["name"] == "no modules_to_save")
    assert row["predicted_peak"] < 170 * MIB, rows
    completes(COPIED.format(""), tmp_path, "190MiB")


def test_eval_accumulation_steps_is_the_remedy_for_joined_predictions(tmp_path: Path) -> None:
    rows, text = told(EVALUATED.format(""), tmp_path, "190MiB")
    assert "Memory in use grows by" in text and "fragmented" not in text.replace("not fragmented", ""), text
    assert rows[0]["name"] == "eval_accumulation_steps", rows
    assert not any("half the" in row["name"] for row in rows)
    completes(EVALUATED.format("eval_accumulation_steps=1"), tmp_path, "190MiB")


def test_states_of_a_metric_are_named_with_its_class(tmp_path: Path) -> None:
    rows, text = told(METRIC.format(""), tmp_path, "260MiB")
    assert "It is a state of a BinaryAUROC." in text, text
    assert "compute_on_cpu=True" in rows[0]["change"] and "reset()" in rows[0]["change"], rows
    completes(METRIC.format("compute_on_cpu=True"), tmp_path, "260MiB")


# 14 frames of 256 x 256 are decoded at once.
FRAMES = """
from diffusers import AutoencoderKLTemporalDecoder
vae = AutoencoderKLTemporalDecoder(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2,
                                   latent_channels=4).half().cuda()
latents = torch.zeros(14, 4, 128, 128, dtype=torch.half, device="cuda")
with torch.no_grad():
    for part in latents.split({}):
        vae.decode(part, num_frames=len(part)).sample.cpu()
"""
# One image of 1024 x 1024.
IMAGE = """
from diffusers import AutoencoderKL
vae = AutoencoderKL(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2,
                    up_block_types=("UpDecoderBlock2D",) * 2, sample_size=256, norm_num_groups=32).cuda()
{}
with torch.no_grad():
    vae.decode(torch.zeros(1, 4, 512, 512, device="cuda"))
"""


def test_video_frames_are_to_be_decoded_in_groups(tmp_path: Path) -> None:
    rows, _ = told(FRAMES.format(14), tmp_path, "450MiB")
    assert "4 of the 14 frames at a time" in rows[0]["change"], rows
    assert not any(row["name"].startswith(("half the", "VAE slicing")) for row in rows)
    completes(FRAMES.format(4), tmp_path, "450MiB")


def test_single_image_is_to_be_decoded_in_tiles(tmp_path: Path) -> None:
    rows, _ = told(IMAGE.format(""), tmp_path, "600MiB")
    assert rows[0]["change"] == "pipe.vae.enable_tiling()" and rows[0]["at_least"], rows
    assert not any(row["name"].startswith(("half the", "VAE slicing")) for row in rows)
    completes(IMAGE.format("vae.enable_tiling()"), tmp_path, "600MiB")


# bitsandbytes' class has the same name as torch's, steps in one kernel and makes no copy.
OTHER_ADAMW = """
from bitsandbytes.optim import AdamW
model = LlamaForCausalLM(config).cuda()
optimizer = AdamW(model.parameters())
words = torch.zeros(8, 512, dtype=torch.long, device="cuda")
for _ in range(3):
    model(input_ids=words, labels=words).loss.backward()
    optimizer.step()
"""


def test_optimizer_of_another_library_gets_no_torch_remedies(tmp_path: Path) -> None:
    rows, text = told(OTHER_ADAMW, tmp_path, "400MiB")
    names = {row["name"] for row in rows}
    assert names.isdisjoint({"fused optimizer", "optimizer without foreach", "8-bit optimizer", "bf16 parameters"})
    assert "optimizer.step() will make" not in text, text


# Each adapter of rank 512 has 4 x 8 x 2 x 256 x 512 numbers: 32 MiB.
ADAPTERS = """
from peft import LoraConfig, get_peft_model
adapter = LoraConfig(r=512, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])
model = get_peft_model(LlamaForCausalLM(config).cuda(), adapter)
words = torch.zeros(1, 16, dtype=torch.long, device="cuda")
for user in range(40):
    model.add_adapter(f"user{{user}}", adapter)
    model.cuda()
    with torch.no_grad():
        model(input_ids=words)
    {}
"""


def test_growing_adapters_are_to_be_deleted(tmp_path: Path) -> None:
    rows, _ = told(ADAPTERS.format(""), tmp_path, "800MiB")
    assert rows[0]["change"].startswith("model.delete_adapter(NAME) for adapters"), rows
    completes(ADAPTERS.format('model.delete_adapter(f"user{user}")'), tmp_path, "800MiB")


# accelerate runs its forward under autocast, so that activations are in bf16 already.
PREPARED = """
from accelerate import Accelerator
accelerator = Accelerator(mixed_precision="bf16")
model = torch.nn.Sequential(*[m for _ in range(8) for m in (torch.nn.Linear(1024, 1024), torch.nn.Tanh())])
model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters()))
for _ in range(3):
    accelerator.backward(model(torch.zeros(16384, 1024, device="cuda")).sum())
    optimizer.step()
    optimizer.zero_grad()
"""


def test_bf16_remedy_does_not_count_memory_already_in_bf16(tmp_path: Path) -> None:
    rows, _ = told(PREPARED, tmp_path, "500MiB")
    row = next(row for row in rows if row["name"] == "bf16 parameters")
    larger = next(row for row in rows if row["name"] == "a larger card")
    assert larger["this_step"] - row["this_step"] < 100 * MIB, rows
