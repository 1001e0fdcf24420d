# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trains an agent by GRPO beside a frozen user, both Qwen3-4B in bf16, on one card.

A step: a group of answers is sampled, the user's and the agent's log-probabilities, the loss, backward, AdamW.
"""

import argparse
import os

import torch
from progress import said, tag
from quantized import quantized_on_card
from transformers import DynamicCache, GenerationConfig, Qwen3Config, Qwen3ForCausalLM
from weightless import gib, on_card

END = 151645
CONFIG = Qwen3Config(
    vocab_size=151936,
    hidden_size=2560,
    intermediate_size=9728,
    num_hidden_layers=36,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=128,
    tie_word_embeddings=True,
    max_position_embeddings=40960,
    bos_token_id=151643,
    eos_token_id=END,
    pad_token_id=151643,
)
UPDATES = {"default": {}, "foreach": {"foreach": True}, "fused": {"fused": True}, "loop": {"foreach": False}}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=1, help="prompts a step")
    parser.add_argument("--group", type=int, default=4, help="answers to each prompt")
    parser.add_argument("--prompt-length", type=int, default=512, help="tokens of a prompt")
    parser.add_argument("--new", type=int, default=256, help="tokens of an answer")
    parser.add_argument("--lora", action="store_true", help="train adapters of rank 16 on q_proj and v_proj")
    parser.add_argument("--bits", type=int, choices=(4, 8, 16), default=16, help="of the frozen weights: bitsandbytes")
    parser.add_argument("--checkpointing", action="store_true", help="compute activations again in backward")
    parser.add_argument("--optimizer", choices=UPDATES, default="default", help="how AdamW updates")
    parser.add_argument("--sample", choices=("loop", "generate"), default="loop", help="our own loop, or generate()")
    parser.add_argument("--steps", type=int, default=2)
    return parser.parse_args()


class Trainer:
    """The agent, the user, and a step of the agent."""

    def __init__(self, args: argparse.Namespace, device: torch.device) -> None:
        self.args, self.device = args, device
        with tag("agent"):
            self.agent = self.make_model(args.bits if args.lora else 16)
        said("agent")
        with tag("user"):
            self.user = self.make_model(args.bits).requires_grad_(False).eval()
        said("user")
        if args.lora:
            self.add_adapters()
        if args.checkpointing:
            self.agent.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            if args.lora:
                self.agent.enable_input_require_grads()
        trained = [parameter for parameter in self.agent.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=1e-6, **UPDATES[args.optimizer])

    def make_model(self, bits: int) -> torch.nn.Module:
        if bits == 16:
            return on_card(lambda: Qwen3ForCausalLM(CONFIG), device=self.device)
        return quantized_on_card(lambda: Qwen3ForCausalLM(CONFIG), bits, self.device)

    def add_adapters(self) -> None:
        from peft import LoraConfig, get_peft_model

        adapters = LoraConfig(task_type="CAUSAL_LM", r=16, lora_alpha=32, target_modules=["q_proj", "v_proj"])
        self.agent = get_peft_model(self.agent, adapters)
        said("adapters")

    @torch.no_grad()
    def answers(self, prompts: torch.Tensor) -> torch.Tensor:
        """Returns the prompts, each with `--new` sampled tokens after it."""
        self.agent.eval()
        if self.args.sample == "generate":
            length = {"min_new_tokens": self.args.new, "max_new_tokens": self.args.new}
            how = GenerationConfig(
                do_sample=True, top_k=0, eos_token_id=END, pad_token_id=CONFIG.pad_token_id, **length
            )
            mask = torch.ones_like(prompts)
            return self.agent.generate(input_ids=prompts, attention_mask=mask, generation_config=how)
        cache, tokens, last = DynamicCache(config=CONFIG), [prompts], prompts
        for _ in range(self.args.new):
            output = self.agent(input_ids=last, past_key_values=cache, use_cache=True, logits_to_keep=1)
            last = torch.multinomial(output.logits[:, -1].float().softmax(-1), 1)
            tokens.append(last)
        return torch.cat(tokens, 1)

    def log_probabilities(self, model: torch.nn.Module, tokens: torch.Tensor) -> torch.Tensor:
        """Returns the log-probability of each new token."""
        new = self.args.new
        logits = model(input_ids=tokens, use_cache=False, logits_to_keep=new + 1).logits[:, -new - 1 : -1]
        return logits.float().log_softmax(-1).gather(2, tokens[:, -new:].unsqueeze(-1)).squeeze(-1)

    def step(self, step: int) -> None:
        prompts = torch.randint(0, 1000, (self.args.prompts, self.args.prompt_length))
        tokens = self.answers(prompts.repeat_interleave(self.args.group, 0).to(self.device))
        said(f"step {step} sampling")
        with torch.no_grad():
            reference = self.log_probabilities(self.user, tokens)
        said(f"step {step} user")
        self.agent.train()
        now = self.log_probabilities(self.agent, tokens)
        advantages = torch.randn(now.shape[0], 1).to(self.device)
        divergence = torch.exp(reference - now) - (reference - now) - 1
        loss = -(torch.exp(now - now.detach()) * advantages - 0.04 * divergence).mean()
        said(f"step {step} agent")
        loss.backward()
        said(f"step {step} backward")
        self.optimizer.step()
        self.optimizer.zero_grad()
        said(f"step {step} optimizer")


def main() -> None:
    args = options()
    # If there are fewer cards, processes share them: this shows the effect of a wrong number of processes.
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    torch.cuda.set_device(device)
    trainer = Trainer(args, device)
    print(f"{gib(trainer.user.parameters()):.4f} GiB of parameters each")
    for step in range(args.steps):
        trainer.step(step)


if __name__ == "__main__":
    main()
