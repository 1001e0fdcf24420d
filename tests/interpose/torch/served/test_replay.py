# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares `memtrace replay` with torch's own allocator on the simulated card."""

import json
from pathlib import Path

import pytest
from support.corpus import CORPUS
from support.json_object import JsonObject
from support.programs import Finished, memtrace, on_card

PROGRAM = Path(__file__).with_name("replayed_program.py")
EXPANDABLE = "expandable_segments:True"
SETTINGS = (
    "",
    EXPANDABLE,
    "max_split_size_mb:64",
    f"max_split_size_mb:40,{EXPANDABLE}",
    "roundup_power2_divisions:[64:8,256:4,>:2],max_split_size_mb:100,max_non_split_rounding_mb:40",
    "garbage_collection_threshold:0.5",
    "large_segment_size_mb:40",
)
COMPLETE = (
    "Constructor-Sun__code_location__memory_snapshot.pickle",
    "NiuHuangxiaozi__assignment2-systems__forward_and_backward_memory_snapshot_100.pickle",
    "NiuHuangxiaozi__assignment2-systems__forward_and_backward_memory_snapshot_200_mixed_precision.pickle",
    "NiuHuangxiaozi__assignment2-systems__forward_memory_snapshot_100.pickle",
)


def policy_of(settings: str) -> str:
    return "torch-expandable" if EXPANDABLE in settings else "torch-native"


def replay(trace: Path, policy: str, *options: str) -> JsonObject:
    done = memtrace("replay", "--json", "--policy", policy, *options, str(trace))
    assert done.status == 0, done.err
    result: JsonObject = json.loads(done.out)
    return result


def play(folder: Path, seed: int, settings: str, card: str, events: str, *features: str) -> Finished:
    folder.mkdir(exist_ok=True)
    arguments = (str(seed), "400", str(folder / "snapshot.pickle"), *features)
    options = ("--allocator", "native", "--events", events)
    return on_card(PROGRAM, folder, *arguments, card=card, options=options, PYTORCH_CUDA_ALLOC_CONF=settings)


def assert_as_recorded(devices: list[JsonObject], told: list[dict[str, int]], least_share: float = 1) -> None:
    for device in devices:
        assert device["allocations"] > 20
        assert device["compared"] == device["allocations"]
        assert device["placed_as_recorded"] >= least_share * device["compared"]
        statistics = told[device["device"]]
        assert {key: device[key] for key in statistics} == statistics


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_replay_places_every_block_as_recorded(tmp_path: Path, settings: str, seed: int) -> None:
    card = ("2GiB", "3GiB", "2x2GiB")[seed % 3]
    finished = play(tmp_path, seed, settings, card, "lazy", "empty_cache", "fraction", "pools")
    told = finished.printed()
    devices = replay(finished.trace, policy_of(settings))["devices"]
    assert_as_recorded(devices, told)


@pytest.mark.parametrize("pools", [pytest.param("pools", marks=pytest.mark.slow), "no pools"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_replay_of_torchs_snapshot_places_every_block_as_recorded(tmp_path: Path, settings: str, pools: str) -> None:
    finished = play(tmp_path, 5, settings, "2GiB", "lazy", "empty_cache", pools)
    devices = replay(tmp_path / "snapshot.pickle", policy_of(settings))["devices"]
    # A snapshot does not tell the pool of a segment that is gone (docs/design/replay.md): 0.97 in the worst of 16.
    assert_as_recorded(devices, finished.printed(), least_share=0.95 if pools == "pools" else 1)
    assert pools == "pools" or [device["guessed_pools"] for device in devices] == [0]


@pytest.mark.parametrize("seed", [1, 2])
def test_replay_with_another_policy_and_card_agrees_with_torch(tmp_path: Path, seed: int) -> None:
    runs = {
        (card, settings): play(tmp_path / f"{card}{settings}", seed, settings, card, "eager")
        for card in ("24GiB", "2GiB")
        for settings in ("", EXPANDABLE)
    }
    for recorded in ("", EXPANDABLE):
        trace = runs["24GiB", recorded].trace
        for (card, settings), other in runs.items():
            said = replay(trace, policy_of(settings), "--card", card)
            told = other.printed()[0]
            assert {key: said[key] for key in told} == told, (recorded, card, settings)


def test_smallest_card_is_the_smallest_that_torch_completes_on(tmp_path: Path) -> None:
    room = play(tmp_path / "room", 7, "", "24GiB,context=0MiB", "eager")
    smallest = replay(room.trace, "torch-native")["smallest_card"] >> 20
    just = play(tmp_path / "just", 7, "", f"{smallest}MiB,context=0MiB", "eager")
    less = play(tmp_path / "less", 7, "", f"{smallest - 2}MiB,context=0MiB", "eager")
    assert just.printed()[0]["failures"] == 0
    assert less.printed()[0]["failures"] > 0


@pytest.mark.parametrize("name", COMPLETE)
def test_replay_of_published_snapshots_places_every_block_as_recorded(name: str) -> None:
    path = CORPUS / "snapshots" / name
    if not path.exists():
        pytest.skip(f"no {path} (set MEMTRACE_CORPUS)")
    policy = "torch-expandable" if name.startswith("Constructor") else "torch-native"
    for device in replay(path, policy)["devices"]:
        assert device["placed_as_recorded"] == device["compared"] == device["allocations"]
        assert device["guessed_pools"] == 0


@pytest.mark.parametrize("settings", ["", EXPANDABLE])
def test_replay_of_captured_graphs_places_every_block_as_recorded(tmp_path: Path, settings: str) -> None:
    options = ("--allocator", "native", "--events", "lazy")
    program = PROGRAM.with_name("replayed_graphs.py")
    finished = on_card(program, tmp_path, options=options, PYTORCH_CUDA_ALLOC_CONF=settings)
    assert_as_recorded(replay(finished.trace, policy_of(settings))["devices"], finished.printed())
