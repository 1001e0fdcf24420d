# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that live on, failed requests that were recovered from, and blocks that have a cure of their own."""

from case_row import NATIVE, Row
from expectations import (
    GIB,
    MIB,
    advises,
    advises_nothing_like,
    completes,
    headline,
    headline_lacks,
    holds,
    ledger,
    nothing_fits_but,
    prints,
    requests,
    runs_out,
    says,
)

NO_COPY = advises_nothing_like("second copy")

ROWS = [
    # GPT-2 small has 124,439,808 parameters: 474.7 MiB in fp32.
    Row(
        "c04_resume.py resume",
        "8GiB",
        "The loaded checkpoint still lives: its weights are checkpoint, its states are optimizer_state.",
        (
            holds(124439808 * 4, line="c04_resume.py:14", role="checkpoint", within=2 * MIB),
            holds(2 * 124439808 * 4, role="optimizer_state", within=2 * MIB),
            advises("map_location=.cpu|del checkpoint"),
        ),
        reported="nanoGPT#158, transformers#22123",
        first="",
    ),
    # 16 x (2048 x 2048 + 2048) x 4 bytes are 256.1 MiB; the states are twice that.
    Row(
        "c17_resume_states.py cuda",
        "2.4GiB",
        "The checkpoint's weights are still referenced: map_location=cpu or del; its states are the optimizer's.",
        (
            holds(16 * (2048 * 2048 + 2048) * 4, line="c17_resume_states.py:13", role="checkpoint", within=MIB),
            holds(2 * 16 * (2048 * 2048 + 2048) * 4, role="optimizer_state", within=MIB),
            advises("map_location=.cpu|del state"),
        ),
        reported="transformers#22123, prime-rl#2154",
        first="save",
    ),
    # 14 x 4096 x 4096 x 4 bytes are 896 MiB, twice.
    Row(
        "c06_load_to_card.py cuda",
        "1800MiB",
        "The checkpoint was loaded to the card and still lives beside the model: map_location=cpu fits.",
        (
            runs_out("capacity", "c06_load_to_card.py:15"),
            holds(896 * MIB, line="c06_load_to_card.py:10", role="checkpoint"),
            advises("map_location=.cpu", fits=True),
            NO_COPY,
        ),
        reported="lingbot-map#43",
        first="save",
    ),
    # Llama-7B has 6,738,415,616 parameters: 12.55 GiB in bf16, beside a half of them and of their states.
    Row(
        "c15_fsdp_state.py",
        "2x36GiB",
        "The full state dict is gathered on each card: a sharded or a CPU-offloaded one.",
        (
            completes(),
            holds(2 * 6738415616, line="c15_fsdp_state.py:30", role="checkpoint", within=MIB),
            advises("state dict|cpu_offload|sharded", fits=True),
            NO_COPY,
        ),
        reported="accelerate#1181",
        ranks=2,
        seconds=600,
    ),
    Row(
        "c14_offload.py 8",
        "8GiB",
        "The program completed: torch tried engines of cuDNN, went on, and three requests were got over. VAE slicing.",
        (completes(), says("recovered", "completed"), advises("slicing")),
        reported="diffusers#1934",
        allocator=NATIVE,
        frameworks=True,
        seconds=600,
    ),
    Row(
        "c31_pool_indices.py",
        "8GiB",
        "The program completed.",
        (completes(), says("did not run out of memory|completed")),
        reported="pytorch#69526",
        allocator=NATIVE,
    ),
    Row(
        "c27_pool_no_retry.py",
        "8GiB",
        "A request inside a pool does not release the cache: empty_cache() before it; our allocator serves it.",
        (
            runs_out("private_pool|pool|cached|capacity", "c27_pool_no_retry.py:9"),
            requests(4 * GIB),
            ledger("live", 0),
            headline_lacks("cannot be joined", "fragmented"),
            headline("pool"),
            advises("empty_cache", first=True, fits=True),
            advises("memtrace's allocator", fits=True),
            advises_nothing_like("expandable"),
        ),
        reported="pytorch#159674",
        allocator=NATIVE,
    ),
    Row(
        "c27_pool_no_retry.py",
        "8GiB",
        "Our allocator gives the default pool's cache to a request inside a pool.",
        (completes(), prints("DONE")),
        reported="pytorch#159674",
    ),
    # 60 weights of 64 MiB, and their half-precision copies of 32 MiB; measured without the cache: 3,882 MiB.
    Row(
        "c14_autocast_casts.py",
        "5GiB",
        "autocast keeps the half copies of the weights: cache_enabled=False needs 3,882 MiB and the context.",
        (
            runs_out("capacity", "c14_autocast_casts.py:10"),
            advises("cache_enabled=False", first=True, fits=True, need=(3882 + 500) / 1024, within=0.1),
            NO_COPY,
        ),
        reported="pytorch#48049",
    ),
    # Attention weights of 4 x 8 x 4096 x 4096 floats are 2 GiB a layer; measured without: 1,470 MiB.
    Row(
        "c15_need_weights.py",
        "12GiB",
        "Nobody reads the attention weights, 2 GiB a layer: need_weights=False needs 1,470 MiB and the context.",
        (runs_out("capacity", "c15_need_weights.py:11"), advises("need_weights=False", first=True, fits=True)),
        reported="RT-DETR#680",
    ),
    # 13,622 x 13,622 floats are 708 MiB, 12 times repeated 8.3 GiB; measured without: 1,710 MiB.
    Row(
        "c30_mask_repeat.py 14",
        "12GiB",
        "The mask is repeated for each of 12 heads, 8.3 GiB: let it broadcast (expand), 1,710 MiB and the context.",
        (runs_out("capacity"), says("c30_mask_repeat.py:12"), advises("expand|broadcast", fits=True)),
        reported="Depth-Anything-3#268",
    ),
    # 20 weights of 64 MiB; LBFGS finds no room for the 16th, because 15 still have their gradients.
    Row(
        "c28_left_gradients.py",
        "3GiB",
        "A gradient of each weight was left by LBFGS, 960 MiB: set_to_none (the evaluation needs more, too).",
        (
            runs_out("capacity", "c28_left_gradients.py:14"),
            holds(15 * 64 * MIB, role="gradient", within=64 * MIB),
            advises("set_to_none|grad = None|zero_grad|left gradients", first=True),
            nothing_fits_but("set_to_none|grad = None|zero_grad|left gradients", "larger card"),
        ),
        reported="heretic#426",
    ),
    # Each model holds 10 x (4096 x 4096 + 4096) x 4 bytes, 640 MiB.
    Row(
        "c29_model_deleted.py",
        "4GiB",
        "The graphs of the kept outputs hold the deleted models: do not keep, or detach, what line 17 makes.",
        (
            runs_out("capacity"),
            advises("detach|no_grad|keep", first=True),
            advises_nothing_like("second copy", "gradient_checkpointing_enable"),
            says("graph", "c29_model_deleted.py:17|c29_model_deleted.py:18"),
        ),
        reported="pytorch#70431",
    ),
    Row(
        "c03_garbage_cycles.py",
        "11178MiB",
        "26 dead reference cycles hold 400 MiB each: gc.collect().",
        (
            runs_out("capacity", "c03_garbage_cycles.py:8"),
            holds(26 * 400 * MIB, line="c03_garbage_cycles.py:8"),
            headline("cycle|collect"),
            advises("gc.collect", first=True, fits=True),
            NO_COPY,
        ),
        reported="pytorch#50185",
    ),
    # 24 layers of two caches of 16 x 12 x 1174 x 128 halves are 2.58 GiB; old and new exist at the same time.
    Row(
        "c12_cache_by_cat.py 150",
        "24GiB",
        "Each length is new to torch's cache, 16.9 GiB are cached: a static cache, or our allocator (5.3 GiB).",
        (
            completes(),
            says("16\\.9\\d? GiB|17\\.\\d+ GiB"),
            advises("static cache|StaticCache", fits=True),
            advises("memtrace's allocator", fits=True),
        ),
        reported="transformers#25930",
        allocator=NATIVE,
    ),
    # The script waits for three of its workers; the fourth may not have its context yet.
    Row(
        "c10_worker_contexts.py",
        "2980MiB,context=520MiB",
        "Four DataLoader workers of this program hold a context of 520 MiB each.",
        (
            runs_out("other_process"),
            headline("three|3|four|4", "workers?", "520"),
            ledger("other_processes", 4 * 520 * MIB, within=520 * MIB),
        ),
        reported="ace#1396",
    ),
]
