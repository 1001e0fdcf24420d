# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Text generation with transformers' generate and its cache."""

import torch
from figures import VOCABULARY, on_card, tell
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

NEW_TOKENS = 32

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=VOCABULARY,
    hidden_size=512,
    intermediate_size=1024,
    num_hidden_layers=4,
    num_attention_heads=8,
    num_key_value_heads=2,
)
model = LlamaForCausalLM(config).to(device="cuda", dtype=torch.bfloat16).eval()
prompt = torch.randint(0, VOCABULARY, (4, 64)).to("cuda")
answer = model.generate(
    input_ids=prompt,
    attention_mask=torch.ones_like(prompt),
    generation_config=GenerationConfig(
        min_new_tokens=NEW_TOKENS, max_new_tokens=NEW_TOKENS, do_sample=False, pad_token_id=0, eos_token_id=1
    ),
)
tell(parameters=on_card(model.parameters()), new_tokens=answer.shape[1] - prompt.shape[1])
