# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Verdict and cure. The bytes are computed by hand from the shapes in the scripts."""

from case_row import NATIVE, Row
from expectations import (
    GIB,
    MIB,
    advises,
    advises_nothing_like,
    claims_no_fit_of,
    completes,
    ends_with,
    headline,
    headline_lacks,
    holds,
    needs_card,
    nothing_fits_but,
    requests,
    runs_out,
    says,
    says_nothing_of,
)

NOT_FRAGMENTED = advises_nothing_like("expandable", "memtrace's allocator")
NO_COPY = advises_nothing_like("second copy")

ROWS = [
    # Qwen3-4B has 4,022,468,096 parameters: 7.49 GiB in bf16, twice; gradients, two states and a copy of one.
    Row(
        "grpo2.py",
        "24GiB",
        "The card is full. 15.0 GiB of AdamW states and a copy of 7.5 GiB are still to come: 45.5 GiB in all.",
        (
            runs_out("capacity"),
            headline("15.0 GiB|14.9\\d GiB", "states"),
            needs_card(45.5, within=0.3),
            advises("LoRA"),
            advises("8-bit", fits=False),
            advises_nothing_like("expandable", "memtrace's allocator", "second copy"),
        ),
        reported="note B",
        allocator=NATIVE,
    ),
    # 13.2446 GiB of bf16 parameters, five times: 66.24 GiB, and 0.49 of context; without the copy 53.0 and 0.49.
    Row(
        "reward7b.py",
        "64GiB",
        "AdamW's foreach copy does not fit; fused=True comes first and fits.",
        (
            runs_out("capacity", "reward7b.py:14"),
            advises("fused=True", first=True, fits=True, need=53.5),
            needs_card(66.73, within=0.1),
            NOT_FRAGMENTED,
        ),
        reported="note D",
        allocator=NATIVE,
    ),
    # 151,674 x 3,584 old rows in fp32 are 2.02 GiB; two copies exist while their mean is computed.
    Row(
        "grow_vocab.py",
        "23.68GiB,other=3.36GiB,cc=8.6",
        "It completes with 19.54 GiB, because the mean of the old embeddings is taken in fp32: mean_resizing=False.",
        (completes(), advises("mean_resizing=False", fits=True), NO_COPY),
        reported="note E",
        allocator=NATIVE,
    ),
    Row(
        "grow_vocab.py",
        "23.68GiB,other=3.36GiB,cc=8.6",
        "fit counts one model.",
        (ends_with(0), says("parameters +15\\.\\d+"), says_nothing_of("second models")),
        reported="note E",
        allocator=NATIVE,
        fit="",
        seconds=600,
    ),
    # 24 x (4096 x 4096 + 4096) x 4 bytes are 1.50 GiB: original, student, gradients, and twice that of states.
    Row(
        "unlearn_small.py",
        "6.4GiB",
        "1.38 of 3.00 GiB of states exist; the program needs 8.14 GiB.",
        (
            runs_out("capacity", "unlearn_small.py:12"),
            requests(4096 * 4096 * 4, "optimizer_state"),
            headline("1\\.3\\d GiB of 3\\.00|1\\.3\\d of 3\\.00"),
            needs_card(8.14),
            NO_COPY,
        ),
        reported="note C",
    ),
    # 7,615,616,512 parameters are 14.19 GiB in bf16, of which line 22 made 0.38.
    Row(
        "edit7b.py",
        "40GiB",
        "The copy of step 1 (14.2 GiB, line 19) still lives while step 2 makes its own: del edited.",
        (
            runs_out("capacity", "edit7b.py:19"),
            holds(2 * (7615616512 - 3 * 3584 * 18944), role="parameter", line="edit7b.py:19", within=400 * MIB),
            headline("line 19|edit7b.py:19"),
            advises("del edited", first=True, fits=True),
            NO_COPY,
        ),
        reported="note A",
    ),
    Row(
        "edit7b_del.py",
        "40GiB",
        "With the copy deleted the program completes.",
        (completes(),),
        reported="note A",
    ),
    # Two networks of 2 x (4096 x 4096 + 4096) x 4 bytes: 128 MiB each.
    Row(
        "actor_critic.py",
        "2GiB",
        "Two independent trained networks are no copies of each other.",
        (completes(), NO_COPY),
    ),
    Row(
        "训练.py",
        "8GiB",
        "One tensor of 9 GiB cannot lie on a card of 8 GiB: line 9.",
        (
            runs_out("too_large|capacity", "训练.py:9"),
            requests(9 * GIB),
            headline("9\\.00? GiB", "too small|larger than|cannot (lie|fit)", "训练.py:9|line 9"),
            headline_lacks("the card is full", "fragmented"),
            nothing_fits_but("larger card"),
            NO_COPY,
        ),
    ),
    Row(
        "ddp2.py",
        "2x8GiB",
        "One tensor of 10 GiB cannot lie on a card of 8 GiB: line 7, rank 1.",
        (
            runs_out("too_large|capacity", "ddp2.py:7"),
            requests(10 * GIB),
            headline("10\\.00? GiB", "too small|larger than|cannot (lie|fit)", "ddp2.py:7|line 7"),
            headline_lacks("the card is full", "fragmented"),
            nothing_fits_but("larger card"),
        ),
        ranks=2,
    ),
    # 64 MiB of parameters, gradients and copy, 128 of states, 480 of context; without the copy 736 MiB and activations.
    Row(
        "two_names.py",
        "800MiB,context=480MiB",
        "fused=True fits; foreach=False is a row of its own and does not.",
        (
            runs_out("capacity", "two_names.py:6"),
            advises("fused=True", first=True, fits=True),
            claims_no_fit_of("foreach=False"),
        ),
    ),
    Row(
        "two_names_loop.py",
        "800MiB,context=480MiB",
        "foreach=False needs three temporaries of a parameter's size and runs out, too.",
        (runs_out("capacity", "two_names_loop.py:6"), claims_no_fit_of("foreach=False")),
    ),
    # Llama-7B in fp32 is 25.1 GiB; 30.98 GiB are needed of the 35.99 that the other process leaves.
    Row(
        "c08_mend_other.py",
        "79.19GiB,other=43.2GiB",
        "It completes beside a process that holds 43.2 GiB; freezing would end the program, and p - lr * g is no copy.",
        (completes(), advises_nothing_like("freeze", "second copy")),
        reported="EasyEdit#8",
        allocator=NATIVE,
    ),
    Row(
        "c08_mend_other.py",
        "79.19GiB,other=48.2GiB",
        "Another process holds 48.2 GiB.",
        (
            runs_out("other_process"),
            headline("other process", "48.2"),
            advises("no other process", first=True),
            advises_nothing_like("freeze", "second copy"),
            NOT_FRAGMENTED,
        ),
        reported="EasyEdit#8",
        allocator=NATIVE,
    ),
    # 32,768 x 4,096 in fp32 are 512 MiB. At the peak lm_head, which is cast last, also has its 256 MiB in bf16.
    Row(
        "c05_kbit.py",
        "24GiB",
        "embed_tokens and lm_head are cast to fp32 in peft's other.py, 512 MiB each; the 4-bit weights exist once.",
        (
            completes(),
            holds(512 * MIB, site="embed_tokens"),
            holds(768 * MIB, site="lm_head"),
            says("other\\.py:\\d+"),
            says_nothing_of(" weight +3\\.\\d+ +2\\d\\d "),
            NO_COPY,
        ),
        reported="peft#3265",
        allocator=NATIVE,
        frameworks=True,
    ),
    Row(
        "c06_checkpoint.py none",
        "80GiB",
        "Without checkpointing, checkpointing is advised.",
        (completes(), advises("checkpoint")),
        reported="pytorch#147449",
    ),
    Row(
        "c06_checkpoint.py nonreentrant",
        "80GiB",
        "One checkpoint around the whole model recomputes all at once and saves nothing.",
        (completes(), says("recompute[^.]*(at once|whole model)|whole model[^.]*recompute")),
        reported="pytorch#147449",
    ),
    Row(
        "c06_checkpoint.py reentrant",
        "80GiB",
        "No gradient flows through the reentrant checkpoint, because no input of it requires one.",
        (completes(), says("no gradient")),
        reported="pytorch#147449",
    ),
    Row(
        "c07_auto_map.py 4 1024",
        "2x24GiB",
        "Checkpointing is called without effect: the model is in eval mode. Card 1 is a row and has room.",
        (
            ends_with(1),
            says("eval mode", "card 1"),
            advises_nothing_like("^checkpointing: .*gradient_checkpointing_enable"),
            NOT_FRAGMENTED,
        ),
        reported="accelerate#2789",
        allocator=NATIVE,
        frameworks=True,
    ),
    # 8,192 x 256,000 logits in fp32 are 7.81 GiB.
    Row(
        "c12_gemma_logits.py",
        "24GiB",
        "Logits of 256,000 words for one example: logits in pieces, half the sequence, not half a batch of one.",
        (
            runs_out("capacity"),
            requests(8192 * 256000 * 4),
            advises("logits", first=True),
            advises("half the sequence"),
            advises_nothing_like("half the (micro-)?batch"),
            NOT_FRAGMENTED,
        ),
        reported="TRL#3456 class",
        allocator=NATIVE,
        frameworks=True,
    ),
    # 4 x 4,096 x 128,256 logits in bf16 are 3.914 GiB; measured without them: 3.91 GiB less.
    Row(
        "c18_kept_outputs.py",
        "80GiB",
        "output lives through backward: del output frees 3.91 GiB.",
        (completes(), advises("del output", fits=True), says("3\\.91 GiB")),
        reported="fms-fsdp#152",
    ),
    # Qwen1.5-14B has 14,167,290,880 parameters: 52.78 GiB in fp32, 26.39 in bf16.
    Row(
        "c19_merge.py",
        "79.15GiB,other=34.72GiB",
        "A bf16 file is loaded in fp32: load in bf16, 26.39 GiB, fits.",
        (
            runs_out("other_process", "c19_merge.py:10"),
            headline("34.72 GiB"),
            advises("bf16|bfloat16", fits=True, need=26.39 + 0.49 + 34.72, within=0.8),
            NO_COPY,
        ),
        reported="LLaMA-Factory#3277",
        frameworks=True,
    ),
]
