# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Whole models of torchvision and transformers, without downloads: a few steps of training, generation, graphs."""

from collections.abc import Callable, Iterable

import torch
import torch.nn.functional as F
from torch import nn

HALF = torch.bfloat16


def _steps(
    model: nn.Module, optimizer: torch.optim.Optimizer, loss: Callable[[nn.Module], torch.Tensor], count: int = 2
) -> None:
    for _ in range(count):
        loss(model).backward()
        optimizer.step()
        optimizer.zero_grad()


def _adamw(parameters: Iterable[nn.Parameter], **how: bool) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, 1e-4, **how)


def _gpt2() -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(n_layer=4, use_cache=False))


def _llama(**more: object) -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=32000,
        hidden_size=1024,
        intermediate_size=2816,
        num_hidden_layers=4,
        num_attention_heads=16,
        num_key_value_heads=4,
        **more,
    )
    return LlamaForCausalLM(config)


def _ids(batch: int, length: int) -> torch.Tensor:
    return torch.zeros(batch, length, dtype=torch.long, device="cuda")


def _language(
    make: Callable[[], nn.Module],
    dtype: torch.dtype,
    how: dict[str, bool],
    autocast: bool = False,
    checkpoint: bool = False,
) -> Callable[[], object]:
    def run() -> None:
        model = make().cuda().to(dtype)
        if checkpoint:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        ids = _ids(4, 512)

        def loss(net: nn.Module) -> torch.Tensor:
            with torch.autocast("cuda", HALF, enabled=autocast):
                result: torch.Tensor = net(input_ids=ids, labels=ids).loss
                return result

        _steps(model, _adamw(model.parameters(), **how), loss)

    return run


def _generate() -> None:
    model = _llama().cuda().to(HALF).eval()
    model.generate(_ids(2, 128), max_new_tokens=24, min_new_tokens=24, do_sample=False, pad_token_id=0)


def _vision(name: str, dtype: torch.dtype, autocast: bool, last: bool, size: int = 224) -> Callable[[], object]:
    def run() -> None:
        import torchvision

        model = getattr(torchvision.models, name)().cuda().to(dtype)
        x = torch.zeros(8, 3, size, size, device="cuda", dtype=dtype)
        if last:
            model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
        labels = _ids(1, 8)[0]

        def loss(net: nn.Module) -> torch.Tensor:
            with torch.autocast("cuda", HALF, enabled=autocast):
                return F.cross_entropy(net(x), labels)

        _steps(model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), loss)

    return run


class Residual(nn.Module):
    """A block of a VAE's decoder."""

    def __init__(self, entering: int, leaving: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(32, entering), nn.GroupNorm(32, leaving)
        self.conv1 = nn.Conv2d(entering, leaving, 3, padding=1)
        self.conv2 = nn.Conv2d(leaving, leaving, 3, padding=1)
        self.skip = nn.Conv2d(entering, leaving, 1) if entering != leaving else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv1(F.silu(self.norm1(x)))
        result: torch.Tensor = self.skip(x) + self.conv2(F.silu(self.norm2(y)))
        return result


def _decoder() -> nn.Module:
    parts: list[nn.Module] = [nn.Conv2d(4, 512, 3, padding=1)]
    entering = 512
    for leaving in (512, 512, 256, 128):
        parts += [Residual(entering, leaving), Residual(leaving, leaving)]
        if leaving != 128:
            parts += [nn.Upsample(scale_factor=2), nn.Conv2d(leaving, leaving, 3, padding=1)]
        entering = leaving
    return nn.Sequential(*parts, nn.GroupNorm(32, 128), nn.SiLU(), nn.Conv2d(128, 3, 3, padding=1))


def _vae(dtype: torch.dtype, size: int, train: bool = False) -> Callable[[], object]:
    def run() -> None:
        model = _decoder().cuda().to(dtype)
        x = torch.zeros(1, 4, size, size, device="cuda", dtype=dtype)
        with torch.set_grad_enabled(train):
            y = model(x)
        if train:
            y.backward(torch.ones_like(y))

    return run


def _graph() -> None:
    model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.zeros(512, 1024, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        _steps(model, optimizer, lambda net: net(x).sum())
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x).sum().backward()
        optimizer.step()
    for _ in range(3):
        graph.replay()


def _side_streams() -> None:
    streams = [torch.cuda.Stream() for _ in range(3)]
    for index in range(12):
        with torch.cuda.stream(streams[index % 3]):
            x = torch.zeros(1 << 22, device="cuda")
            y = x * 2
        y.record_stream(torch.cuda.current_stream())
        torch.cuda.current_stream().wait_stream(streams[index % 3])
        y.add_(1)


def _lora() -> None:
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(_llama().to(HALF), LoraConfig(r=16, target_modules=["q_proj", "v_proj"])).cuda()
    ids = _ids(4, 512)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    _steps(model, _adamw(trained), lambda net: net(input_ids=ids, labels=ids).loss)


FOREACH, FUSED, LOOP = {"foreach": True}, {"fused": True}, {"foreach": False}
PROGRAMS: dict[str, Callable[[], object]] = {
    "gpt2.fp32.foreach": _language(_gpt2, torch.float32, FOREACH),
    "gpt2.autocast.fused": _language(_gpt2, torch.float32, FUSED, autocast=True),
    "gpt2.bf16.loop": _language(_gpt2, HALF, LOOP),
    "llama.bf16.foreach": _language(_llama, HALF, FOREACH),
    "llama.bf16.checkpoint": _language(_llama, HALF, FUSED, checkpoint=True),
    "llama.fp32.autocast": _language(_llama, torch.float32, FUSED, autocast=True),
    "llama.eager.bf16": _language(lambda: _llama(attn_implementation="eager"), HALF, FUSED),
    "llama.generate": _generate,
    "llama.lora": _lora,
    "resnet50.fp32": _vision("resnet50", torch.float32, False, False),
    "resnet50.autocast": _vision("resnet50", torch.float32, True, False),
    "resnet50.autocast.channels_last": _vision("resnet50", torch.float32, True, True),
    "vit_b_16.bf16": _vision("vit_b_16", HALF, False, False),
    "convnext_tiny.autocast": _vision("convnext_tiny", torch.float32, True, False),
    "mobilenet_v3_small.fp32": _vision("mobilenet_v3_small", torch.float32, False, False),
    **{f"vae.{str(d)[6:]}.{s}": _vae(d, s) for d in (torch.float16, HALF, torch.float32) for s in (32, 64, 96, 128)},
    "vae.train.bfloat16.32": _vae(HALF, 32, train=True),
    "vae.train.float32.32": _vae(torch.float32, 32, train=True),
    "graph": _graph,
    "side_streams": _side_streams,
}
