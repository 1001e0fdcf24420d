# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the time and the memory of a step of whole models as JSON lines, for comparison with estimates.

Usage: step_times.py [NAME ...] >FILE. Milliseconds, the median of the steps after the warm-up; bytes as torch counts
them. `step_ms` ends with a synchronization; `host_ms` is the time until the host had launched everything, so that a
step whose two times are close waits for the host and not for the card. `card_ms` has the time between events on the
card: forward and loss, backward, optimizer.
"""

import gc
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import nn

HALF = torch.bfloat16
WARM_UP, STEPS = 4, 9
Loss = Callable[[], torch.Tensor]
Made = tuple[nn.Module, torch.optim.Optimizer | None, Loss]


def ids(batch: int, length: int, vocabulary: int = 32000) -> torch.Tensor:
    return torch.randint(0, vocabulary, (batch, length), device="cuda")


def llama(
    width: int, layers: int, heads: int, kv_heads: int, inner: int, vocabulary: int = 32000, dtype: torch.dtype = HALF
) -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=8192,
        use_cache=False,
    )
    torch.set_default_dtype(dtype)
    try:
        with torch.device("cuda"):
            return LlamaForCausalLM(config)
    finally:
        torch.set_default_dtype(torch.float32)


def billion(vocabulary: int = 32000, dtype: torch.dtype = HALF) -> nn.Module:
    """Returns a model of about 1.1 billion parameters."""
    return llama(2048, 22, 32, 4, 5632, vocabulary, dtype)


def language(model: nn.Module, batch: int, length: int, vocabulary: int = 32000, autocast: bool = False) -> Loss:
    tokens = ids(batch, length, vocabulary)

    def loss() -> torch.Tensor:
        with torch.autocast("cuda", HALF, enabled=autocast):
            result: torch.Tensor = model(input_ids=tokens, labels=tokens).loss
        return result

    return loss


def adamw(model: nn.Module, **how: bool) -> torch.optim.Optimizer:
    return torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-5, **how)


def gpt2_small() -> Made:
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(use_cache=False)).cuda()
    return model, adamw(model), language(model, 8, 1024, 50257, autocast=True)


def billion_plain() -> Made:
    model = billion()
    return model, adamw(model, fused=True), language(model, 4, 2048)


def billion_foreach() -> Made:
    model = billion()
    return model, adamw(model, foreach=True), language(model, 4, 2048)


def billion_loop() -> Made:
    model = billion()
    return model, adamw(model, foreach=False), language(model, 1, 512)


def billion_checkpointed() -> Made:
    model = billion()
    model.gradient_checkpointing_enable()
    return model, adamw(model, fused=True), language(model, 4, 2048)


def billion_autocast() -> Made:
    model = billion(dtype=torch.float32)
    return model, adamw(model, fused=True), language(model, 4, 1024, autocast=True)


def billion_large_vocabulary() -> Made:
    model = billion(vocabulary=151936)
    return model, adamw(model, fused=True), language(model, 4, 2048, 151936)


def three_billion_checkpointed() -> Made:
    model = llama(3072, 28, 24, 8, 8192, 128256)
    model.gradient_checkpointing_enable()
    return model, adamw(model, fused=True), language(model, 2, 4096, 128256)


def seven_billion_lora() -> Made:
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(
        llama(4096, 32, 32, 32, 11008), LoraConfig(r=16, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])
    )
    return model, adamw(model, fused=True), language(model, 1, 2048)


def seven_billion_scored() -> Made:
    model = llama(4096, 32, 32, 32, 11008)
    return model, None, language(model, 2, 2048)


def bert_fp32() -> Made:
    from transformers import BertConfig, BertForSequenceClassification

    model = BertForSequenceClassification(BertConfig()).cuda()
    tokens, labels = ids(32, 128, 30522), torch.zeros(32, dtype=torch.long, device="cuda")
    return model, adamw(model), lambda: model(input_ids=tokens, labels=labels).loss


def mixture_of_experts() -> Made:
    from transformers import MixtralConfig, MixtralForCausalLM

    config = MixtralConfig(
        vocab_size=32000,
        hidden_size=1024,
        intermediate_size=3584,
        num_hidden_layers=8,
        num_attention_heads=16,
        num_key_value_heads=8,
        use_cache=False,
    )
    model = MixtralForCausalLM(config).to(HALF).cuda()
    return model, adamw(model, fused=True), language(model, 4, 1024)


def images(model: nn.Module, batch: int, autocast: bool, channels_last: bool = False) -> Loss:
    pixels = torch.randn(batch, 3, 224, 224, device="cuda")
    if channels_last:
        pixels = pixels.to(memory_format=torch.channels_last)
    labels = torch.zeros(batch, dtype=torch.long, device="cuda")

    def loss() -> torch.Tensor:
        with torch.autocast("cuda", HALF, enabled=autocast):
            return F.cross_entropy(model(pixels), labels)

    return loss


def vit() -> Made:
    from torchvision.models import vit_b_16

    model = vit_b_16().cuda()
    return model, adamw(model), images(model, 64, autocast=True)


def resnet(batch: int, autocast: bool, channels_last: bool) -> Made:
    from torchvision.models import resnet50

    model = resnet50().cuda()
    if channels_last:
        model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    return model, optimizer, images(model, batch, autocast, channels_last)


PROGRAMS: dict[str, Callable[[], Made]] = {
    "gpt2_small.autocast.8x1024": gpt2_small,
    "llama_1b.bf16.fused.4x2048": billion_plain,
    "llama_1b.bf16.foreach.4x2048": billion_foreach,
    "llama_1b.bf16.loop.1x512": billion_loop,
    "llama_1b.bf16.checkpointed.4x2048": billion_checkpointed,
    "llama_1b.autocast.4x1024": billion_autocast,
    "llama_1b.vocabulary_151936.4x2048": billion_large_vocabulary,
    "llama_3b.checkpointed.2x4096": three_billion_checkpointed,
    "llama_7b.lora.1x2048": seven_billion_lora,
    "llama_7b.no_grad.2x2048": seven_billion_scored,
    "bert_base.fp32.32x128": bert_fp32,
    "mixtral_8_layers.bf16.4x1024": mixture_of_experts,
    "vit_b_16.autocast.64": vit,
    "resnet50.autocast.channels_last.64": lambda: resnet(64, True, True),
    "resnet50.autocast.64": lambda: resnet(64, True, False),
    "resnet50.fp32.32": lambda: resnet(32, False, False),
}


def one_step(made: Made) -> dict[str, float]:
    """Runs a step and returns its times: the whole, the host's, and the card's by part."""
    _, optimizer, loss_of = made
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)]
    started = time.perf_counter()
    marks[0].record()
    if optimizer is None:
        with torch.no_grad():
            loss_of()
        marks[1].record()
        marks[2].record()
    else:
        loss = loss_of()
        marks[1].record()
        loss.backward()
        marks[2].record()
        optimizer.step()
        optimizer.zero_grad()
    marks[3].record()
    launched = time.perf_counter()
    torch.cuda.synchronize()
    ended = time.perf_counter()
    forward, backward, update = (first.elapsed_time(after) for first, after in itertools.pairwise(marks))
    return {
        "step_ms": (ended - started) * 1e3,
        "host_ms": (launched - started) * 1e3,
        "forward_ms": forward,
        "backward_ms": backward,
        "optimizer_ms": update,
    }


def measured(make: Callable[[], Made]) -> dict[str, float]:
    torch.cuda.reset_peak_memory_stats()
    made = make()
    for parameter in made[0].parameters():
        parameter.requires_grad_(parameter.requires_grad and made[1] is not None)
    made[0].train(made[1] is not None)
    steps = [one_step(made) for _ in range(WARM_UP + STEPS)][WARM_UP:]
    found = {name: round(statistics.median(step[name] for step in steps), 3) for name in steps[0]}
    found["spread"] = round(max(s["step_ms"] for s in steps) / min(s["step_ms"] for s in steps), 3)
    found["parameters"] = sum(p.numel() for p in made[0].parameters())
    found["peak"] = torch.cuda.max_memory_allocated()
    return found


def generation(batch: int, prompt: int, new: int) -> dict[str, float]:
    """Returns the times of generating with a cache: milliseconds for the prompt and for each token after it."""
    torch.cuda.reset_peak_memory_stats()
    model = billion().eval()
    tokens, times = ids(batch, prompt), {}
    for count in (1, new, 1, new):
        torch.cuda.synchronize()
        started = time.perf_counter()
        with torch.no_grad():
            model.generate(tokens, max_new_tokens=count, min_new_tokens=count, do_sample=False, use_cache=True)
        torch.cuda.synchronize()
        times[count] = (time.perf_counter() - started) * 1e3
    return {
        "prompt_ms": round(times[1], 3),
        "token_ms": round((times[new] - times[1]) / (new - 1), 3),
        "peak": torch.cuda.max_memory_allocated(),
    }


def results(names: list[str]) -> Iterator[dict[str, object]]:
    for name, make in PROGRAMS.items():
        if names and name not in names:
            continue
        try:
            yield {"name": name, **measured(make)}
        except (RuntimeError, ImportError) as error:
            yield {"name": name, "error": str(error)[:200]}
        gc.collect()
        torch.cuda.empty_cache()
    for batch, prompt in ((1, 512), (16, 512)):
        name = f"llama_1b.generate.{batch}x{prompt}"
        if not names or name in names:
            yield {"name": name, **generation(batch, prompt, 48)}
            gc.collect()
            torch.cuda.empty_cache()


def main() -> None:
    torch.manual_seed(0)
    card = torch.cuda.get_device_name()
    print(json.dumps({"card": card, "torch": torch.__version__, "warm_up": WARM_UP, "steps": STEPS}), flush=True)
    for row in results(sys.argv[1:]):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
