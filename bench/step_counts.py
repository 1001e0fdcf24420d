# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares steps of whole models, counted by hand with the rules of card_times.py, with times measured on an H100.

Usage: step_counts.py [RECORDING]. For each model: milliseconds on the card by the rules and as measured, and the host's
time by the number of launches. The counts follow transformers 5.23, peft 0.21 and torch 2.11. Constants are not fitted
to these rows, except those for the host (HOST), of which there are three for all rows.
"""

import dataclasses
import json
import sys
from pathlib import Path

from card_times import OPTIMIZER_PASSES, PASSES, attention, convolution, passes, product

RECORDING = Path(__file__).parent.parent / "tests/gpu/recordings/h100-80gb/step_times.jsonl"
HOST = {"forward": 36.0, "backward": 30.0, "optimizer": 17.0}  # microseconds of the host for each launch, with Python
HEAD_64 = 0.7  # assumed: the part of its speed that attention has with heads of 64
TO, NORM, LOSS = PASSES["to"], PASSES["layer_norm"], PASSES["cross_entropy"]


@dataclasses.dataclass
class Part:
    """The kernels of a part of a step: their times on the card, in microseconds."""

    times: list[float] = dataclasses.field(default_factory=list)

    def moves(self, elements: float, *each: float, factor: float = 1.0, times: int = 1) -> None:
        """Adds a kernel for each number of bytes per element."""
        self.times += [passes(elements * moved, factor) for moved in each] * times

    def multiplies(self, kind: str, m: float, n: float, k: float, *, times: int = 1, is_aligned: bool = True) -> None:
        """Adds products of m x k by k x n."""
        size = 4 if kind == "float32" else 2
        self.times += [product(kind, 2 * m * n * k, size * (m * k + k * n + m * n), is_aligned)] * times

    def attends(self, backend: str, batch: float, heads: int, length: int, size: int, is_backward: bool) -> None:
        """Adds causal attention with heads of `size`."""
        flops = 2 * batch * heads * length**2 * size * (2.5 if is_backward else 1)
        self.times.append(attention(backend, flops, length, is_backward) / (HEAD_64 if size == 64 else 1))


@dataclasses.dataclass
class Step:
    """The parts of a step."""

    forward: Part = dataclasses.field(default_factory=Part)
    backward: Part = dataclasses.field(default_factory=Part)
    optimizer: Part = dataclasses.field(default_factory=Part)

    def card(self) -> list[float]:
        """Returns milliseconds on the card by part."""
        return [sum(part.times) / 1e3 for part in (self.forward, self.backward, self.optimizer)]

    def host(self) -> list[float]:
        """Returns milliseconds of the host by part."""
        parts = zip(HOST.values(), (self.forward, self.backward, self.optimizer), strict=True)
        return [cost * len(part.times) / 1e3 for cost, part in parts]

    def estimate(self) -> float:
        """Returns milliseconds: of each part the larger of both, because few programs let the host run far ahead."""
        return sum(map(max, self.card(), self.host()))

    def times(self, layers: int) -> "Step":
        """Returns this step with each kernel as often as there are layers."""
        return Step(*(Part(part.times * layers) for part in (self.forward, self.backward, self.optimizer)))

    def recomputing(self, needless: Part) -> "Step":
        """Returns this step with its forward once more in its backward pass, but for its `needless` last kernels."""
        again = list(self.forward.times)
        for time in needless.times:
            again.remove(time)
        return Step(self.forward, Part(self.backward.times + again), self.optimizer)

    def plus(self, other: "Step") -> "Step":
        """Returns both."""
        parts = ((self.forward, other.forward), (self.backward, other.backward), (self.optimizer, other.optimizer))
        return Step(*(Part(a.times + b.times) for a, b in parts))


@dataclasses.dataclass
class Llama:
    """The shapes of a Llama. `wide` is 4 if its parameters are fp32 under autocast, else 2."""

    batch: int
    length: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    inner: int
    vocabulary: int
    wide: int = 2
    rank: int = 0  # of LoRA

    def layer(self) -> Step:
        """Returns one layer."""
        tokens, size = self.batch * self.length, self.width // self.heads
        kv, step = self.kv_heads * size, Step()
        n, k, i, w = tokens * self.width, tokens * kv, tokens * self.inner, self.wide
        forward, backward = step.forward, step.backward
        # Norms: square, mean, product with the root, product with the weight; converted to fp32 and back.
        forward.moves(n, 8, 4, 8, 2 * w, times=2)
        forward.moves(0, 0, 0, times=2)
        backward.moves(n, 2 * w, w + 4, w, 8, 12, 4, 8, 8, 4, 12, 12, times=2)
        backward.moves(0, 0, 0, 0, times=2)
        if w == 2:
            forward.moves(n, 6, 6, factor=TO, times=2)
            backward.moves(n, 6, 6, factor=TO, times=2)
        else:  # autocast converts the input of each product
            forward.moves(n, 6, times=5, factor=TO)
            forward.moves(k, 6, factor=TO)
            backward.moves(n, 6, times=5, factor=TO)
        turned = (4, 2, 4, 4, 6) if w == 2 else (6, 2, 4, 6, 12)
        turned_back = (4, 4, 2, 2, 2, 2, 2, 6, 6, 4) if w == 2 else (8, 8, 2, 4, 2, 4, 2, 6, 12)
        for part in (n, k):
            forward.moves(part, *turned)
            backward.moves(part, *turned_back)
        forward.moves(n, 4 + w if w == 2 else 10, times=2)
        backward.moves(n, 3 * w, times=4)
        forward.moves(i, 4, 6)
        backward.moves(i, 6, 6, 6)
        backward.moves(n, 3 * w)
        forward.attends("CUDNN", self.batch, self.heads, self.length, size, False)
        backward.attends("CUDNN", self.batch, self.heads, self.length, size, True)
        sides = (
            (self.width, self.width, 2),
            (kv, self.width, 2),
            (self.inner, self.width, 2),
            (self.width, self.inner, 1),
        )
        for rows, columns, times in sides:
            forward.multiplies("bfloat16", tokens, rows, columns, times=times)
            backward.multiplies("bfloat16", tokens, columns, rows, times=times)
            if not self.rank:
                backward.multiplies("bfloat16", rows, columns, tokens, times=times)
                if w == 4:  # the weight is converted, and its gradient back
                    forward.moves(rows * columns, 6, factor=TO, times=times)
                    backward.moves(rows * columns, 6, factor=TO, times=times)
        if self.rank:  # four adapters in fp32: convert, two thin products, scale, add, convert back
            for _ in range(4):
                forward.moves(n, 6, 6, factor=TO)
                forward.moves(n, 4, 4, 8, 8)
                backward.moves(n, 6, 6, factor=TO)
                backward.moves(n, 8, 4, 4, 4, 4, 6)
        return step

    def head(self) -> Step:
        """Returns the logits, their conversion to fp32, and the loss."""
        tokens, v, step = self.batch * self.length, self.vocabulary, Step()
        step.forward.multiplies("bfloat16", tokens, v, self.width)
        step.backward.multiplies("bfloat16", tokens, self.width, v)
        if not self.rank:
            step.backward.multiplies("bfloat16", v, self.width, tokens)
        step.forward.moves(tokens * v, 6, factor=TO)
        step.forward.moves(tokens * v, 8, factor=LOSS)
        step.backward.moves(tokens * v, 4, 12)
        step.backward.moves(tokens * v, 6, factor=TO)
        if self.wide == 4:
            step.forward.moves(self.width * v, 6, factor=TO)
            step.backward.moves(self.width * v, 6, factor=TO)
        return step

    def step(self, is_checkpointed: bool = False) -> Step:
        """Returns all layers and the head, without the optimizer."""
        layer, last = self.layer(), Part()
        tokens = self.batch * self.length
        # Recomputation stops before the last product, whose result no backward needs.
        last.multiplies("bfloat16", tokens, self.width, self.inner)
        last.moves(tokens * self.width, 6)
        return (layer.recomputing(last) if is_checkpointed else layer).times(self.layers).plus(self.head())


def updated(step: Step, parameters: float, size: int, how: str, tensors: int) -> Step:
    """Adds the optimizer: fused in one kernel, else in passes over all parameters or one by one."""
    launches = {"fused": 4, "foreach": 40, "loop": 9 * tensors}[how]
    time = passes(parameters * size, OPTIMIZER_PASSES[how])
    step.optimizer.times += [time / launches] * launches
    return step


def gpt2() -> Step:
    """Parameters in fp32 under autocast; the activation in pieces, of which the power is in fp32."""
    tokens, h, layer = 8 * 1024, 768, Step()
    n, forward, backward = tokens * h, layer.forward, layer.backward
    forward.moves(n, 8, 8, factor=NORM)
    backward.moves(n, 12, 12, 12, 12)
    forward.moves(n, 6, 6, 24, factor=TO)
    backward.moves(n, 6, 6, 24, factor=TO)
    forward.moves(n, 5, 5, 10, 10, 6, 2)
    backward.moves(n, 5, 5, 6, 6, 12, 12, 6)
    forward.moves(4 * n, 8, 8, 10, 8, 8, 8, 4, 10)
    forward.moves(4 * n, 6, factor=TO)
    backward.moves(4 * n, 10, 10, 8, 12, 8, 8, 8, 8, 12, 12, 10, 4, 6)
    forward.attends("CUDNN", 8, 12, 1024, 64, False)
    backward.attends("CUDNN", 8, 12, 1024, 64, True)
    for rows, columns in ((3 * h, h), (h, h), (4 * h, h), (h, 4 * h)):
        forward.multiplies("bfloat16", tokens, rows, columns)
        backward.multiplies("bfloat16", tokens, columns, rows)
        backward.multiplies("bfloat16", rows, columns, tokens)
        backward.moves(tokens * rows, 2)  # the bias
        forward.moves(rows * columns, 6, factor=TO)
        backward.moves(rows * columns, 6, factor=TO)
    vocabulary, head = 50257, Llama(8, 1024, h, 1, 12, 12, 0, 50257, wide=4).head()
    head.forward.times[0] = product("bfloat16", 2.0 * tokens * h * vocabulary, 0, is_aligned=False)
    head.backward.times[0:2] = [head.forward.times[0]] * 2
    return updated(layer.times(12).plus(head), 124.4e6, 4, "foreach", 148)


def bert() -> Step:
    tokens, h, layer = 32 * 128, 768, Step()
    n, forward, backward = tokens * h, layer.forward, layer.backward
    forward.moves(n, 8, 8, factor=NORM)
    backward.moves(n, 12, 12, 12, 12)
    forward.moves(n, 9, 9, 12, 12, 32)
    backward.moves(n, 9, 9, 12, 12, 12, 12, 48)
    for rows, columns, times in ((h, h, 4), (4 * h, h, 1), (h, 4 * h, 1)):
        forward.multiplies("float32", tokens, rows, columns, times=times)
        backward.multiplies("float32", tokens, columns, rows, times=times)
        backward.multiplies("float32", rows, columns, tokens, times=times)
        backward.moves(tokens * rows, 4, times=times)
    for part, factor in ((forward, 1.0), (backward, 2.5)):  # the plain products' rate: fp32 has no fused kernel as fast
        part.times.append(product("float32", factor * 4 * 32 * 12 * 128**2 * 64, 0))
    return updated(layer.times(12), 109.5e6, 4, "foreach", 201)


def resnet(batch: int, size: int, is_copied: bool) -> Step:
    kind, step, side, channels = ("float16" if size == 2 else "float32"), Step(), 112, 64

    def convolves(inputs: int, outputs: int, kernel: int, to: int, since: int) -> None:
        flops = 2.0 * batch * outputs * to**2 * inputs * kernel**2
        moved = size * batch * (inputs * since**2 + outputs * to**2)
        out = batch * outputs * to**2 * size
        step.forward.times.append(convolution(kind, flops, moved, is_copied))
        step.backward.times += [convolution(kind, flops, moved, is_copied)] * 2
        step.forward.moves(out, 3)  # the norm, and its count of batches
        step.forward.moves(0, 0)
        step.backward.moves(out, 5)
        if size == 2:  # autocast converts the weight, and its gradient back
            step.forward.moves(inputs * outputs * kernel**2, 6, factor=TO)
            step.backward.moves(inputs * outputs * kernel**2, 6, factor=TO)

    convolves(3, 64, 7, 112, 224)
    side = 56
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            before, stride = side, 2 if block == 0 and width > 64 else 1
            convolves(channels, width, 1, before, before)
            side = before // stride
            convolves(width, width, 3, side, before)
            convolves(width, 4 * width, 1, side, side)
            if block == 0:
                convolves(channels, 4 * width, 1, side, before)
            channels = 4 * width
            inside, out = batch * width * side**2 * size, batch * channels * side**2 * size
            step.forward.moves(inside, 2, 2)
            step.forward.moves(out, 3, 2)
            step.backward.moves(inside, 3, 3)
            step.backward.moves(out, 3, 3)
    return updated(step, 25.6e6, 4, "fused", 161)


def steps() -> dict[str, Step]:
    """Returns the counted steps by the names of the recording."""
    billion = (2048, 22, 32, 4, 5632)
    plain = Llama(4, 2048, *billion, 32000)
    seven = Llama(1, 2048, 4096, 32, 32, 32, 11008, 32000, rank=16)
    scored = Llama(2, 2048, 4096, 32, 32, 32, 11008, 32000).step()
    return {
        "gpt2_small.autocast.8x1024": gpt2(),
        "llama_1b.bf16.fused.4x2048": updated(plain.step(), 1.1e9, 2, "fused", 201),
        "llama_1b.bf16.foreach.4x2048": updated(plain.step(), 1.1e9, 2, "foreach", 201),
        "llama_1b.bf16.loop.1x512": updated(Llama(1, 512, *billion, 32000).step(), 1.1e9, 2, "loop", 201),
        "llama_1b.bf16.checkpointed.4x2048": updated(plain.step(is_checkpointed=True), 1.1e9, 2, "fused", 201),
        "llama_1b.autocast.4x1024": updated(Llama(4, 1024, *billion, 32000, wide=4).step(), 1.1e9, 4, "fused", 201),
        "llama_1b.vocabulary_151936.4x2048": updated(Llama(4, 2048, *billion, 151936).step(), 1.591e9, 2, "fused", 201),
        "llama_3b.checkpointed.2x4096": updated(
            Llama(2, 4096, 3072, 28, 24, 8, 8192, 128256).step(is_checkpointed=True), 3.607e9, 2, "fused", 255
        ),
        "llama_7b.lora.1x2048": updated(seven.step(), 16.8e6, 4, "fused", 256),
        "llama_7b.no_grad.2x2048": Step(forward=scored.forward),
        "bert_base.fp32.32x128": bert(),
        "resnet50.autocast.channels_last.64": resnet(64, 2, False),
        "resnet50.autocast.64": resnet(64, 2, True),
        "resnet50.fp32.32": resnet(32, 4, True),
    }


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORDING
    measured = {row["name"]: row for row in map(json.loads, path.read_text().splitlines()) if "step_ms" in row}
    print("milliseconds: by the rules / measured")
    print(f"{'':36}{'forward':>16}{'backward':>16}{'optimizer':>14}{'host':>14}{'step':>16}  error")
    for name, step in steps().items():
        row, card, host, estimate = measured[name], step.card(), sum(step.host()), step.estimate()
        pairs = [(time, row[f"{part}_ms"]) for part, time in zip(HOST, card, strict=True)]
        pairs += [(host, row["host_ms"]), (estimate, row["step_ms"])]
        bound = "host" if row["host_ms"] > 0.85 * row["step_ms"] else ""
        figures = "".join(f"{ours:8.1f}/{theirs:6.1f}" for ours, theirs in pairs)
        print(f"{name:36}{figures}{100 * (estimate / row['step_ms'] - 1):+7.0f} %  {bound}")


if __name__ == "__main__":
    main()
