# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a reward model: Mistral-7B with a scalar head, bf16, AdamW, full fine-tuning or LoRA."""

import argparse

import torch
import torch.nn.functional as F
from progress import said
from transformers import AutoModelForSequenceClassification, MistralConfig
from weightless import gib, on_card

UPDATES = {"default": {}, "foreach": {"foreach": True}, "fused": {"fused": True}, "loop": {"foreach": False}}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=1, help="sequences a step")
    parser.add_argument("--seq", type=int, default=512, help="tokens of a sequence")
    parser.add_argument("--lora", action="store_true", help="train adapters of rank 16 on q_proj and v_proj")
    parser.add_argument("--checkpointing", action="store_true", help="compute activations again in backward")
    parser.add_argument("--optimizer", choices=UPDATES, default="default", help="how AdamW updates")
    parser.add_argument("--steps", type=int, default=2)
    return parser.parse_args()


def make_model(args: argparse.Namespace) -> torch.nn.Module:
    config = MistralConfig(num_labels=1, pad_token_id=2, use_cache=False, attn_implementation="sdpa")
    model = on_card(lambda: AutoModelForSequenceClassification.from_config(config))
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {gib(model.parameters()):.4f} GiB")
    if args.lora:
        from peft import LoraConfig, get_peft_model

        adapters = LoraConfig(
            task_type="SEQ_CLS", r=16, lora_alpha=32, lora_dropout=0.1, target_modules=["q_proj", "v_proj"]
        )
        model = get_peft_model(model, adapters)
    model.train()
    if args.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if args.lora:
            model.enable_input_require_grads()
    return model


def main() -> None:
    args = options()
    model = make_model(args)
    said("model")
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, **UPDATES[args.optimizer])
    tokens = torch.randint(3, 32000, (args.batch, args.seq)).cuda()
    mask = torch.ones_like(tokens)
    for step in range(args.steps):
        rewards = model(input_ids=tokens, attention_mask=mask).logits.float().squeeze(-1)
        loss = -F.logsigmoid(rewards[:1] - rewards[-1:]).mean()  # the chosen answer first, the rejected one last
        said(f"step {step} forward")
        loss.backward()
        said(f"step {step} backward")
        optimizer.step()
        said(f"step {step} optimizer")
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
