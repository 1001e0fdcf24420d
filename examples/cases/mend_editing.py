# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains MEND's editing networks on the language tower of a Qwen2-VL-7B, bf16.

A step: two forwards of the model, the gradient of one edit, the model with the edit (`edited_model`), five forwards
of that, one backward through the edit into the editing networks.
"""

import argparse
from collections.abc import Callable

import torch
import torch.nn.functional as F
from gradient_transform import GradientTransform, Seen, watch
from progress import said, tag
from transformers import Qwen2Config, Qwen2ForCausalLM
from weightless import gib, on_card

CONFIG = Qwen2Config(
    vocab_size=152064,
    hidden_size=3584,
    intermediate_size=18944,
    num_hidden_layers=28,
    num_attention_heads=28,
    num_key_value_heads=4,
    tie_word_embeddings=False,
    max_position_embeddings=32768,
    use_cache=False,
)
EDITED = [f"model.layers.{layer}.mlp.{part}_proj.weight" for layer in (25, 26, 27) for part in ("up", "down")]
Forward = Callable[[dict[str, torch.Tensor]], object]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=1, help="sequences a forward")
    parser.add_argument("--seq", type=int, default=512, help="tokens of a sequence")
    parser.add_argument("--rank", type=int, default=1920, help="of the editing networks")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument(
        "--copy",
        choices=("functional", "higher", "share"),
        default="functional",
        help="the edited model: a copy of all weights, higher's copy, or only the edited weights anew",
    )
    parser.add_argument("--edited-device", default="cuda:0", help="the card of the edited model")
    parser.add_argument("--train-all", action="store_true", help="forget to freeze what is not edited")
    return parser.parse_args()


class Editor:
    """The model, the networks that edit it, and the step that trains these."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.seen: Seen = {}
        self.main, self.sub = torch.device("cuda:0"), torch.device(args.edited_device)
        self.model = on_card(lambda: Qwen2ForCausalLM(CONFIG), device=self.main).eval()
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(args.train_all or name in EDITED)
        said("model")
        with self.main:
            sizes = CONFIG.hidden_size + CONFIG.intermediate_size
            self.networks = torch.nn.ModuleDict({part: GradientTransform(sizes, args.rank) for part in ("up", "down")})
        self.optimizer = torch.optim.Adam(self.networks.parameters(), lr=1e-6)
        said("editing networks")

    def batch(self, device: torch.device) -> dict[str, torch.Tensor]:
        tokens = torch.randint(0, 1000, (self.args.batch, self.args.seq)).to(device)
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}

    def edits(self) -> dict[str, torch.Tensor]:
        """Returns the update of each edited weight, from the gradient of one batch."""
        with watch(self.model, EDITED) as self.seen:  # MEND also keeps it until the next edit
            self.model(**self.batch(self.main)).loss.backward()
        updates = {name: self.edit_of(name) for name in EDITED}
        self.model.zero_grad(set_to_none=True)
        return updates

    def edit_of(self, name: str) -> torch.Tensor:
        inputs, gradients = (tensor.flatten(0, -2).float() for tensor in self.seen[name])
        changed = self.networks[name.split(".")[-2].removesuffix("_proj")](torch.cat([inputs, gradients], -1))
        width = inputs.shape[1]
        return 1e-4 * (changed[:, width:].T @ changed[:, :width])

    def edited_model(self, updates: dict[str, torch.Tensor]) -> Forward:
        if self.args.copy == "higher":
            return self.patched_model(updates)
        weights = dict(self.model.named_parameters())
        if self.args.copy == "functional" or self.sub != self.main:
            weights = {
                name: weight.detach().to(self.sub, copy=True).requires_grad_(weight.requires_grad)
                for name, weight in weights.items()
            }
        weights |= {name: weights[name] + update.to(self.sub, weights[name].dtype) for name, update in updates.items()}
        buffers = {name: buffer.to(self.sub) for name, buffer in self.model.named_buffers()}
        return lambda batch: torch.func.functional_call(self.model, {**weights, **buffers}, (), batch)

    def patched_model(self, updates: dict[str, torch.Tensor]) -> Forward:
        from higher_slices import monkeypatch

        patched = monkeypatch(self.model, device=self.sub, copy_initial_weights=True)
        names = [name for name, _ in self.model.named_parameters()]
        weights = dict(zip(names, patched.parameters(), strict=True))
        patched.update_params([w + updates[n].to(self.sub, w.dtype) if n in updates else w for n, w in weights.items()])
        return lambda batch: patched(**batch)

    def divergence(self, after: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        logarithms = F.log_softmax(after.to(self.main).float(), -1)
        return F.kl_div(logarithms, F.softmax(before.float(), -1), reduction="batchmean")

    def step(self, step: int) -> None:
        with torch.no_grad():
            before = [self.model(**self.batch(self.main)).logits for _ in range(2)]
        updates = self.edits()
        said(f"step {step} edit")
        with tag("edited_model"):
            edited = self.edited_model(updates)
        said(f"step {step} edited_model")
        after = [edited(self.batch(self.sub)) for _ in range(5)]
        loss = sum(output.loss for output in after[:3]).to(self.main)
        for output, logits in zip(after[3:], before, strict=True):
            loss = loss + self.divergence(output.logits, logits)
        said(f"step {step} losses")
        loss.backward()
        said(f"step {step} backward")
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.model.zero_grad()
        said(f"step {step} optimizer")


def main() -> None:
    args = options()
    editor = Editor(args)
    print(f"{gib(editor.model.parameters()):.4f} GiB of parameters")
    for step in range(args.steps):
        editor.step(step)


if __name__ == "__main__":
    main()
