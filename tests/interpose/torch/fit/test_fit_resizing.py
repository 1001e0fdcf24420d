# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Resizes embeddings of real transformers models, with the mean of the old ones and without it."""

import json

from support.fit_changes import changed_places
from support.programs import on_card

RESIZING = """
import json, torch
from transformers import BartConfig, BartForConditionalGeneration, GPT2Config, GPT2LMHeadModel
sizes = dict(d_model=128, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=64, decoder_ffn_dim=64,
             encoder_attention_heads=2, decoder_attention_heads=2, vocab_size=20000)
with torch.device("cuda"):
    gpt2 = GPT2LMHeadModel(GPT2Config(n_embd=512, n_layer=1, n_head=4, vocab_size=20000)).bfloat16()
    bart = BartForConditionalGeneration(BartConfig(**sizes))  # has a method of its own
torch.cuda.reset_peak_memory_stats()
before = torch.cuda.memory_allocated()
gpt2.resize_token_embeddings(20010)
print(json.dumps({"bytes": 20010 * 512 * 2, "peak": torch.cuda.max_memory_allocated() - before}), flush=True)
assert gpt2.get_input_embeddings().weight.shape == (20010, 512)
bart.resize_token_embeddings(20010, mean_resizing=True)
gpt2.resize_token_embeddings(20010)  # nothing to do
gpt2.resize_token_embeddings(20020, None, False)
try:
    gpt2.resize_token_embeddings(20020, tokens=1)
except TypeError as error:
    assert "tokens" in str(error)
else:
    raise AssertionError("no error")
"""


def test_resized_embeddings_are_not_averaged(tmp_path):
    def resize(change: str) -> tuple[dict, int]:
        run = on_card(RESIZING, tmp_path, MEMTRACE_FIT_CHANGES=change)
        return json.loads(run.out.splitlines()[0]), changed_places(run.trace, change)

    before, _ = resize("")
    said, places = resize("mean_resizing")
    assert places == 2
    assert said["peak"] < 1.5 * said["bytes"] and before["peak"] > 3 * said["bytes"]
