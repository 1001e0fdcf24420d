# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of the five cases that were known before the examples were written; see case_figures.py."""

from dataclasses import dataclass

HOST_VALUES = "reserved: the reference's host values, a mode of torch's in Python, takes other ways"
CUDNN = "its cuDNN was off: convolutions by im2col, ours by the stand-in's workspaces"
NO_CUDNN = "its cuDNN was off; with --no-cudnn and --host-values off ours is the same, to the free MiB"
FREE = "as reserved, which is elsewhere by a few segments"


@dataclass(frozen=True)
class Row:
    """A run and its expected end: peaks by card (allocated, reserved; GiB), or the request that fails."""

    name: str
    card: str
    command: str
    peaks: tuple[tuple[float, float], ...] = ()
    asked: str = ""  # as in torch's message
    free: str = ""
    place: str = ""  # the function that made the request
    expandable: bool = False
    why: str = ""  # the reason if ours is different


A, B, C = "mend_editing.py", "grpo.py", "cogvideox_unlearning.py"
D, E = "reward_model.py", "resize_embeddings.py"
SMALL = "23.68GiB,cc=8.6"

ROWS = [
    Row("A1", "40GiB", A, asked="298.00 MiB", free="244.00 MiB", place="kl_div", why=FREE),
    Row("A2", "48GiB", A, ((41.812, 43.479),), why=HOST_VALUES),
    Row("A3", "2x40GiB", f"{A} --edited-device cuda:1", ((23.516, 26.285), (19.255, 20.367)), why=HOST_VALUES),
    Row("A4", "2x24GiB", f"{A} --edited-device cuda:1", asked="166.00 MiB", place="step"),
    Row(
        "A4x",
        "2x24GiB",
        f"{A} --edited-device cuda:1",
        asked="298.00 MiB",
        free="112.00 MiB",
        place="kl_div",
        expandable=True,
        why=HOST_VALUES,
    ),
    Row("A5", "40GiB", f"{A} --copy share", ((27.590, 28.314),), why=HOST_VALUES),
    Row("A5s", "32GiB", f"{A} --copy share", ((27.590, 28.314),), why=HOST_VALUES),
    Row("A6", "80GiB", f"{A} --train-all --steps 1", ((64.333, 70.449),), why=HOST_VALUES),
    Row("A6h", "80GiB", f"{A} --train-all --copy higher --steps 1", ((64.333, 70.449),), why=HOST_VALUES),
    Row("B1", "24GiB", B, asked="58.00 MiB", free="42.00 MiB", place="forward", why=FREE),
    Row("B2", "80GiB", B, ((49.583, 54.713),), why=HOST_VALUES),
    Row("B2f", "80GiB", f"{B} --optimizer fused", ((49.596, 52.748),), why=HOST_VALUES),
    Row("B3", "24GiB", f"{B} --lora --new 8", asked="40.00 MiB", free="38.00 MiB", place="forward"),
    Row("B3l", "80GiB", f"{B} --lora", ((31.483, 32.148),), why=HOST_VALUES),
    Row("B4", "24GiB", f"{B} --lora --group 2", asked="298.00 MiB", free="240.00 MiB", place="backward", why=FREE),
    Row("B4x", "24GiB", f"{B} --lora --group 2 --steps 3", ((23.177, 0),), expandable=True),
    Row("B5", "24GiB", f"{B} --lora --checkpointing", ((17.469, 18.248),)),
    Row("B5g", "24GiB", f"{B} --lora --checkpointing --sample generate", ((17.469, 18.248),)),
    Row("C1", "46.07GiB", C, asked="204.00 MiB", free="59.68 MiB", place="apply_rotary_emb", why=HOST_VALUES),
    Row("C2", "80GiB", C, asked="204.00 MiB", free="168.00 MiB", place="forward", why=HOST_VALUES),
    Row("C3", "300GiB", f"{C} --optimizer fused", ((144.444, 151.047),), why=CUDNN),
    Row(
        "C4", "46.07GiB", f"{C} --checkpointing", asked="18.00 MiB", free="7.68 MiB", place="_init_group", why=NO_CUDNN
    ),
    Row("C5", "80GiB", f"{C} --checkpointing", ((62.295, 63.645),), why=CUDNN),
    Row("C5l", "80GiB", f"{C} --checkpointing --optimizer loop", ((54.673, 55.986),), why=CUDNN),
    Row("C5f", "80GiB", f"{C} --checkpointing --optimizer fused", ((54.673, 56.219),), why=CUDNN),
    Row("C6", "80GiB", f"{C} --checkpointing --optimizer adam8bit", ((44.470, 46.711),), why=CUDNN),
    Row(
        "C6s", "46.07GiB", f"{C} --checkpointing --optimizer adam8bit", asked="430.00 MiB", place="backward", why=CUDNN
    ),
    Row("C7", "80GiB", f"{C} --batch 1", ((67.408, 79.213),), why=CUDNN),
    Row("C7x", "80GiB", f"{C} --batch 1", ((0, 68.457),), expandable=True, why=CUDNN),
    Row("C8", "80GiB", f"{C} --checkpointing --optimizer fused --text-encoder", ((63.543, 65.453),), why=CUDNN),
    Row("D1", "64GiB", D, asked="112.00 MiB", place="_multi_tensor_adam"),
    Row("D2", "80GiB", D, ((66.239, 67.80),)),
    Row("D3", "64GiB", f"{D} --optimizer fused", ((52.999, 55.02),)),
    Row("D4", "64GiB", f"{D} --seq 2048 --optimizer fused", ((53.010, 59.97),), why=HOST_VALUES),
    Row("D5", "64GiB", f"{D} --seq 2048 --optimizer loop", ((53.483, 60.51),), why=HOST_VALUES),
    Row("D6", "64GiB", f"{D} --seq 4096 --optimizer fused", asked="112.00 MiB", place="silu"),
    Row("D7", "64GiB", f"{D} --seq 4096 --checkpointing --optimizer fused", ((53.597, 54.34),), why=HOST_VALUES),
    Row("D8", "64GiB", f"{D} --lora --batch 4", ((24.494, 25.08),)),
    Row("D9", "80GiB", f"{D} --lora --seq 2048 --batch 4", ((57.965, 60.36),)),
    Row("D10", "64GiB", f"{D} --lora --seq 2048 --batch 4 --checkpointing", ((17.434, 18.15),)),
    Row("D11", "64GiB", f"{D} --lora --seq 4096 --batch 4 --checkpointing", ((21.905, 23.04),), why=HOST_VALUES),
    Row(
        "E1",
        f"{SMALL},other=3.36GiB",
        E,
        asked="2.03 GiB",
        free="1.82 GiB",
        place="_init_added_embeddings_weights_with_mean",
    ),
    Row("E2", f"4x{SMALL}", f"{E} --device-map auto", ((8.299, 0), (0, 0), (0, 0), (9.423, 0))),
    Row("E2f", f"4x{SMALL}", f"{E} --device-map auto --dtype float32", ((10.229, 0), (0, 0), (0, 0), (12.486, 0))),
    Row("E3f", SMALL, f"{E} --dtype float32", asked="260.00 MiB", place="to_empty"),
    Row("E3", SMALL, f"{E} --no-mean", ((15.852, 0),)),
]
