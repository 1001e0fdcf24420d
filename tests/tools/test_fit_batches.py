# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace fit` gives the largest batches of DataLoaders first, and says what it could not measure or reorder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MEMTRACE, on_card

# Item 37 has 1,024 tokens, all others 128. The card holds two steps with 128, and one with 1,024, but not the second of
# these, in which the optimizer states exist from the begin on.
LATE = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler
lengths = [1024 if i == 37 else 128 for i in range(40)]

class Sentences(Dataset):
    def __len__(self):
        return len(lengths)

    def __getitem__(self, i):
        return torch.zeros(lengths[i], dtype=torch.long)

class Stream(IterableDataset):
    def __iter__(self):
        return (torch.zeros(length, dtype=torch.long) for length in lengths)

LOADER
model = nn.Sequential(nn.Embedding(1000, 512), *[nn.Linear(512, 512) for _ in range(8)], nn.Linear(512, 32000)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for x in loader:
    model(x.cuda()).float().logsumexp(-1).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
LIST = "loader = DataLoader([torch.zeros(length, dtype=torch.long) for length in lengths], batch_size=1)"


def fit(folder: Path, loader: str, *options: str, card: str = "1152MiB", text: str = LATE) -> tuple[JsonObject, str]:
    """Returns the answer as JSON, with the sentences about batches joined to one text."""
    script = folder / "train.py"
    script.write_text(text.replace("LOADER", loader))
    command = [MEMTRACE, "fit", "--json", "--no-remedies", "--card", card, "--watch", "0", *options]
    done = subprocess.run(
        [*command, "--", sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.stdout, done.stderr
    answer = json.loads(done.stdout)
    return answer, " ".join(sentence for loader in answer["batches"] for sentence in loader["said"])


def test_late_long_sample_is_run_first_and_does_not_fit(tmp_path: Path) -> None:
    answer, said = fit(tmp_path, LIST)
    assert answer["verdict"] == "does_not_fit" and answer["first_failure"]["step"] == 2
    assert said == "The largest batch of train.py:22 (1,024 tokens, item 37) was run in steps 1 and 2."
    (loader,) = answer["batches"]
    assert loader["trains"] and loader["items_read"] == loader["items"] == 40
    assert answer["gaps"] == []


@pytest.mark.slow
def test_order_as_it_is_names_the_batch_that_was_not_seen(tmp_path: Path) -> None:
    answer, said = fit(tmp_path, LIST, "--batch-order", "as-is", "--steps", "3")
    assert answer["verdict"] == "not_known" and said == ""
    (gap,) = answer["gaps"]
    assert gap["moment"] == "largest_batch" and "1,024 tokens, item 37" in gap["evidence"]
    assert "as-is" in gap["why_not"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "loader",
    [
        "loader = DataLoader(Sentences(), batch_size=1, shuffle=True)",
        "loader = DataLoader(Sentences(), batch_size=1, num_workers=2)",
        "loader = DataLoader(Sentences(), batch_size=1, num_workers=2, persistent_workers=True, shuffle=True)",
        "loader = DataLoader(Sentences(), batch_size=1, pin_memory=True)",
        "loader = DataLoader(Sentences(), batch_size=1, sampler=RandomSampler(Sentences(), True, 10**9))",
        "loader = DataLoader(torch.utils.data.Subset(Sentences(), range(30, 40)), batch_size=1)",
        "loader = DataLoader(Stream(), batch_size=1)",
        "loader = DataLoader(Stream(), batch_size=1, num_workers=1)",
    ],
)
def test_each_kind_of_loader_runs_its_largest_batch_in_two_steps(tmp_path: Path, loader: str) -> None:
    answer, said = fit(tmp_path, loader, card="4GiB")
    assert answer["verdict"] in ("fits", "fits_in_the_steps_seen"), answer["gaps"]
    assert "The largest batch of train.py:22 (1,024 tokens" in said and "was run in steps 1 " in said
    # The need is that of the second step with that batch, whatever the loader: nothing else adds card memory.
    assert answer["seen"]["last_rise"] == 2 and answer["needs"] > 1200 << 20


@pytest.mark.slow
def test_data_that_takes_too_long_to_measure_is_a_gap(tmp_path: Path) -> None:
    slow = """
import time
class Slow(Sentences):
    def __getitem__(self, i):
        time.sleep(0.2)
        return super().__getitem__(i)
loader = DataLoader(Slow(), batch_size=1)
"""
    answer, _ = fit(tmp_path, slow, "--measure-time", "1", "--steps", "3", card="4GiB")
    assert answer["verdict"] == "not_known"
    (gap,) = answer["gaps"]
    assert gap["moment"] == "largest_batch"
    assert "of 40 items were read in 1 s" in gap["why_not"]
    (loader,) = answer["batches"]
    assert 0 < loader["items_read"] < 40


@pytest.mark.slow
def test_data_that_cannot_be_read_twice_is_a_gap_with_its_error(tmp_path: Path) -> None:
    once = """
import os
mine = os.getpid()
class Once(Sentences):
    def __getitem__(self, i):
        assert os.getpid() == mine, "not in another process"
        return super().__getitem__(i)
loader = DataLoader(Once(), batch_size=1)
"""
    answer, _ = fit(tmp_path, once, "--steps", "3", card="4GiB")
    (gap,) = answer["gaps"]
    assert gap["why_not"] == "The items could not be read: AssertionError: not in another process"


@pytest.mark.slow
def test_accumulated_gradients_get_the_largest_batch_until_two_steps_were_made(tmp_path: Path) -> None:
    each_third = "    if (count := globals().get('count', 0) + 1) % 3: continue\n    optimizer.step()\n"
    answer, _ = fit(tmp_path, LIST, card="4GiB", text=LATE.replace("    optimizer.step()\n", each_third))
    (loader,) = answer["batches"]
    assert (loader["largest"][0]["first_step"], loader["largest"][0]["last_step"]) == (1, 2)


# Prints what its random states give at the end of each batch, and which items it saw.
RANDOM = """
import json, random
import torch
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(3)
random.seed(3)

class Augmented(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return torch.zeros(1 + i, dtype=torch.long), torch.rand(()), random.random(), i

weight = torch.nn.Parameter(torch.ones(4, device="cuda"))
drawn, items = [], []
for x, a, b, item in DataLoader(Augmented(), batch_size=1, shuffle=True):
    drawn.append((a.item(), b.item()))
    items.append(item.item())
    weight.sum().backward()
    torch.optim.SGD([weight], 0.1).step()
print(json.dumps([drawn, torch.rand(()).item(), random.random(), items]))
"""


def test_random_numbers_of_the_program_are_those_without_fit(tmp_path: Path) -> None:
    usual = on_card(RANDOM, tmp_path).printed()
    reordered = on_card(RANDOM, tmp_path, MEMTRACE_FIT_STEPS="100:100").printed()
    assert reordered[:3] == usual[:3]
    assert reordered[3][:2] == [11, 11] and sorted(usual[3]) == list(range(12))
    others = [item for item in usual[3][:-1] if item != 11]
    assert reordered[3][2:-1] == others[: len(reordered[3]) - 3]
