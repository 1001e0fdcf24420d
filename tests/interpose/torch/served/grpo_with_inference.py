# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""GRPO with adapters on a Qwen3-4B, a frozen reference, and an inference copy of the policy, as engines for it have.

With `--sleep` the copy sleeps while the policy is trained, and gets the policy's weights after each wake. Prints "done"
if all steps fit.
"""

import argparse

import memtrace
import torch
from transformers import DynamicCache, Qwen3Config, Qwen3ForCausalLM

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
)
GROUP, PROMPT, NEW = 2, 512, 256


def model():
    """Returns a model whose weights have memory, but no values."""
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        made = Qwen3ForCausalLM(CONFIG)
    torch.set_default_dtype(torch.float32)
    made = made.to_empty(device="cuda").requires_grad_(False)
    made.tie_weights()
    return made


class Adapted(torch.nn.Module):
    """A frozen layer with an adapter of rank 16 in float32, as peft makes it."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.into = torch.nn.Linear(layer.in_features, 16, bias=False, device="cuda")
        self.out = torch.nn.Linear(16, layer.out_features, bias=False, device="cuda")

    def forward(self, x):
        return self.layer(x) + (self.out(self.into(x.float())) * 2).to(x.dtype)


def with_adapters(policy):
    for block in policy.model.layers:
        block.self_attn.q_proj = Adapted(block.self_attn.q_proj)
        block.self_attn.v_proj = Adapted(block.self_attn.v_proj)
    return policy


@torch.no_grad()
def sample(engine, prompt):
    cache, tokens, last = DynamicCache(config=CONFIG), [prompt], prompt
    for _ in range(NEW):
        logits = engine(input_ids=last, past_key_values=cache, use_cache=True, logits_to_keep=1).logits[:, -1]
        last = torch.multinomial(logits.float().softmax(-1), 1)
        tokens.append(last)
    return torch.cat(tokens, 1)


def log_probabilities(of, tokens):
    logits = of(input_ids=tokens, use_cache=False, logits_to_keep=NEW + 1).logits[:, -NEW - 1 : -1]
    return torch.gather(logits.float().log_softmax(-1), 2, tokens[:, -NEW:].unsqueeze(-1)).squeeze(-1)


def train(policy, reference, optimizer, tokens):
    with torch.no_grad():
        old = log_probabilities(reference, tokens)
    new = log_probabilities(policy, tokens)
    advantage = torch.randn(new.shape[0], 1).cuda()
    kl = torch.exp(old - new) - (old - new) - 1
    (-(torch.exp(new - new.detach()) * advantage - 0.04 * kl).mean()).backward()
    optimizer.step()
    optimizer.zero_grad()


@torch.no_grad()
def take_weights(engine, policy):
    """Copies the weights of the policy, without the adapters, into the engine."""
    trained = {name.replace("_proj.layer.", "_proj."): weight for name, weight in policy.named_parameters()}
    for name, weight in engine.named_parameters():
        weight.copy_(trained[name])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sleep", action="store_true")
    sleeps = parser.parse_args().sleep
    policy = with_adapters(model())
    reference = model()
    with memtrace.tag("inference", movable=True):
        inference = model()
    optimizer = torch.optim.AdamW([weight for weight in policy.parameters() if weight.requires_grad], lr=1e-6)
    for _ in range(2):
        tokens = sample(inference, torch.randint(0, 1000, (1, PROMPT)).repeat_interleave(GROUP, 0).cuda())
        if sleeps:
            print("slept", memtrace.sleep("inference", keep="nothing").card_bytes, flush=True)
        train(policy, reference, optimizer, tokens)
        if sleeps:
            print("woke", memtrace.wake("inference").card_bytes, flush=True)
        take_weights(inference, policy)
    print("peak", torch.cuda.max_memory_reserved())
    print("done")


main()
