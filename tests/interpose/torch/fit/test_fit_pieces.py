# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Logits and their cross entropy in pieces take less memory, and have the values of the whole."""

from support.fit_changes import Changed, changed
from support.programs import on_card

# On the host, where values are computed: a program's way to the loss, with whole logits and with lazy ones.
VALUES = """
import json, torch
from torch.nn.functional import cross_entropy
from memtrace._changes._lazy_logits import lazy_class
from memtrace._changes._recipe import Head
WORDS = 100
ways = {
    "transformers": lambda l, t: cross_entropy(l.float().view(-1, l.size(-1)), t.view(-1)),
    "shifted": lambda l, t: cross_entropy((l[..., :-1, :].contiguous() / 2).view(-1, WORDS), t[:, 1:].reshape(-1),
                                          ignore_index=3, reduction="sum") / 7,
    "classes first": lambda l, t: cross_entropy(l.transpose(1, 2), t, label_smoothing=0.1),
    "each": lambda l, t: (cross_entropy(l.flatten(0, 1).float(), t.flatten(), reduction="none")
                          * torch.arange(t.numel())).sum(),
    "soft": lambda l, t: cross_entropy(l.flatten(0, 1).tanh().float(), t.flatten()),
    "read": lambda l, t: l.float().log_softmax(-1).mean(),
    "classes of one": lambda l, t: l[..., :10].sum(),
}
def trained(way, dtype, bias, autocast, is_lazy):
    torch.manual_seed(0)
    head = torch.nn.Linear(64, WORDS, bias=bias).to(dtype)
    hidden, target = torch.randn(3, 12, 64, dtype=dtype, requires_grad=True), torch.randint(WORDS, (3, 12))
    made = []
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        if is_lazy:
            call = Head(torch, head.forward, head.weight, head.bias, hidden, lambda: made.append(1))
            logits = call.logits(lazy_class(torch, 8))
        else:
            logits = head(hidden)
        facts = [list(logits.shape), str(logits.dtype), str(logits.device), logits.requires_grad, len(logits)]
        loss = ways[way](logits, target)
    loss.backward()
    found = [loss.detach(), hidden.grad, head.weight.grad, *([head.bias.grad] if bias else [])]
    return facts, found, bool(made)
rows = []
for dtype, autocast in ((torch.float32, False), (torch.float32, True), (torch.bfloat16, False)):
    for bias in (False, True):
        for way in ways:
            whole, pieces = (trained(way, dtype, bias, autocast, is_lazy) for is_lazy in (False, True))
            assert whole[0] == pieces[0] and [g.dtype for g in whole[1]] == [g.dtype for g in pieces[1]]
            errors = [float((a.double() - b.double()).abs().max() / a.double().abs().max())
                      for a, b in zip(whole[1], pieces[1])]
            rows.append([way, autocast or dtype is torch.bfloat16, pieces[2], max(errors)])
print(json.dumps(rows))
"""


def test_losses_and_gradients_are_those_of_whole_logits(tmp_path):
    for way, is_half, in_pieces, error in on_card(VALUES, tmp_path, OMP_NUM_THREADS="1").printed():
        assert in_pieces == (way not in ("read", "classes of one")), way
        # Gradients of 16 bits are rounded once for each piece.
        assert error < (2e-2 if is_half else 1e-5), (way, is_half, error)


GPT2 = """
import json, torch
from transformers import GPT2Config, GPT2LMHeadModel
with torch.device("cuda"):
    model = GPT2LMHeadModel(GPT2Config(n_embd=256, n_layer=2, n_head=4, vocab_size=50000))
optimizer = torch.optim.AdamW(model.parameters())
tokens = torch.randint(50000, (4, 256), device="cuda")
torch.cuda.reset_peak_memory_stats()
for _ in range(2):
    output = model(input_ids=tokens, labels=tokens)
    output.loss.backward()
    assert output.logits.shape == (4, 256, 50000)
    del output
    model.zero_grad()
peak = torch.cuda.max_memory_allocated()
assert model(input_ids=tokens).logits.argmax(-1).shape == (4, 256)
print(json.dumps(peak))
"""


def test_peak_falls_with_the_number_of_pieces(tmp_path):
    whole = on_card(GPT2, tmp_path).printed()
    logits = 4 * 256 * 50000 * 4
    for pieces in (2, 8):
        run = on_card(GPT2, tmp_path, MEMTRACE_FIT_CHANGES=f"pieces={pieces}")
        assert changed(run.trace, "pieces") == Changed(1, 1, "Linear", "lm_head")
        # Logits, their gradient and a temporary exist for one piece at a time.
        assert whole - run.printed() > 2 * logits * (pieces - 1) / pieces
