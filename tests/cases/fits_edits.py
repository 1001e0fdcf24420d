# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Edits by which a person applies a remedy to a script of the corpus, by the row's command line and the remedy's name.

Each edit is a piece of the script, which occurs once, and its replacement.
"""

from pathlib import Path

# Llama's head and loss in eight pieces of the sequence, each computed again in its backward pass.
PIECES = """
def in_pieces(model, ids):
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
    def one(part, labels):
        return torch.nn.functional.cross_entropy(model.lm_head(part).flatten(0, 1), labels.flatten(), reduction="sum")
    parts = zip(hidden[:, :-1].chunk(8, 1), ids[:, 1:].chunk(8, 1), strict=True)
    losses = [torch.utils.checkpoint.checkpoint(one, *pair, use_reentrant=False) for pair in parts]
    return sum(losses) / ids[:, 1:].numel()

"""

# The same for Gemma under peft's adapters, whose logits have a soft cap.
PIECES_OF_GEMMA = PIECES.replace("model.model(", "model.base_model.model.model(").replace(
    "cross_entropy(model.lm_head(part).flatten(0, 1)",
    "cross_entropy((30 * torch.tanh(model.base_model.model.lm_head(part) / 30)).float().flatten(0, 1)",
)

EDITS: dict[tuple[str, str], list[tuple[str, str]]] = {
    ("edit7b.py", "del edited"): [("    edited = {n", "    edited = None\n    edited = {n")],
    ("edit7b_del.py", "half the sequence"): [("default=512", "default=256")],
    ("c03_garbage_cycles.py", "gc.collect()"): [
        ("import torch\n", "import gc\n\nimport torch\n"),
        ("    Node(torch", "    gc.collect()\n    Node(torch"),
    ],
    ("c04_resume.py resume", "del checkpoint"): [("batch = 6\n", "batch = 6\nif resume:\n    del checkpoint\n")],
    ("c04_resume.py resume", "half the micro-batch"): [("batch = 6\n", "batch = 3\n")],
    ("c04_resume.py resume", "logits in pieces"): [
        ("batch = 6\n", "batch = 6\n" + PIECES.replace("model.model(", "model.transformer(")),
        ("model(input_ids=ids, labels=ids).loss", "in_pieces(model, ids)"),
    ],
    ("c08_mend_other.py", "del grads"): [("    after.backward()", "    del grads\n    after.backward()")],
    ("c08_mend_other.py", "half the sequence"): [("(1, 60)", "(1, 30)")],
    ("c12_cache_by_cat.py 150", "static cache"): [
        ("L = 16, 12, 128, 24\n", "L = 16, 12, 128, 24\nlongest = 1024 + tokens\n"),
        ("past = [(torch.zeros(B, H, 1024, D, device", "past = [(torch.zeros(B, H, longest, D, device"),
        ("half), torch.zeros(B, H, 1024, D, device", "half), torch.zeros(B, H, longest, D, device"),
        ("torch.cat([k, k1], 2)", "k"),
        ("torch.cat([v, k1], 2)", "v"),
        ("        new.append(", "        k[:, :, 1024 + t] = v[:, :, 1024 + t] = k1[:, :, 0]\n        new.append("),
    ],
    ("c12_gemma_logits.py", "logits in pieces"): [
        ("optimizer = torch", PIECES_OF_GEMMA + "optimizer = torch"),
        ("model(input_ids=ids, labels=ids, use_cache=False).loss", "in_pieces(model, ids)"),
    ],
    ("c17_resume_states.py cuda", "del state"): [("for n in range(3):\n", "del state\nfor n in range(3):\n")],
    ("c17_resume_states.py cuda", "half the micro-batch"): [("torch.zeros(4096,", "torch.zeros(2048,")],
    ("c18_kept_outputs.py", "half the micro-batch"): [("(4, 4096)", "(2, 4096)")],
    ("c20_hook_features.py", "do not keep"): [("seen.append(out)", "seen.append(out.cpu())")],
    ("looper.py 8", "do not keep"): [("y.detach()", "y.detach().cpu()")],
    ("c27_pool_no_retry.py", "empty the cache"): [
        ("with torch.cuda.use", "torch.cuda.empty_cache()\nwith torch.cuda.use")
    ],
    ("c18_kept_outputs.py", "logits in pieces"): [
        ("for step in", PIECES + "for step in"),
        ("    output = model(input_ids=ids, use_cache=False)\n", "    output = None\n"),
        ("torch.nn.functional.cross_entropy(output.logits.view(-1, 128256), ids.view(-1))", "in_pieces(model, ids)"),
    ],
    **{
        (f"c06_checkpoint.py {mode}", "logits in pieces"): [
            ("def forward(ids):\n", PIECES.replace("lm_head(part)", "lm_head(part).float()") + "def forward(ids):\n"),
            ("model(input_ids=ids, labels=ids, use_cache=False).loss", "in_pieces(model, ids)"),
        ]
        for mode in ("none", "nonreentrant", "reentrant")
    },
    **{
        (f"c06_checkpoint.py {mode}", "half the micro-batch"): [("(8, 2048)", "(4, 2048)")]
        for mode in ("none", "nonreentrant")
    },
}


def write_edited(script: Path, edits: list[tuple[str, str]], into: Path) -> Path:
    """Writes the script with the edits into the folder; fails if a piece does not occur exactly once."""
    text = script.read_text()
    for old, new in edits:
        if text.count(old) != 1:
            raise ValueError(f"{script.name} has {old!r} {text.count(old)} times")
        text = text.replace(old, new)
    into.mkdir(parents=True, exist_ok=True)
    edited = into / script.name
    edited.write_text(text)
    return edited
