# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Phases, steps and roles that are derived from the stacks of torch's snapshots (docs/reference/interchange.md)."""

import json
import pickle
from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MIB, memtrace

Frames = list[JsonObject]
TORCH = "/venv/lib/python3.11/site-packages/torch/"
PACKAGES = "/venv/lib/python3.11/site-packages/"


def stack(*frames: str) -> Frames:
    """Returns a stack, innermost first; each frame is `path:function`."""
    split = (frame.rsplit(":", 1) for frame in frames)
    return [{"filename": file, "name": name, "line": 1} for file, name in split]


PROGRAM = ("/home/ada/train.py:main", "/home/ada/train.py:<module>")
CALL = ("/home/ada/model.py:forward", TORCH + "nn/modules/module.py:_call_impl")
NATIVE = [{"filename": "??", "name": "at::detail::empty_cuda(long)", "line": 0}]
ENGINE = [*NATIVE, {"filename": "", "name": "torch::autograd::Engine::thread_main(int)", "line": 0}]

PLAIN = stack(*PROGRAM)
LOADED = stack(TORCH + "nn/modules/module.py:convert", TORCH + "nn/modules/module.py:_apply", *PROGRAM)
BUILT = stack("/home/ada/model.py:__init__", *PROGRAM)
FORWARD = stack(*CALL, *PROGRAM)
EVALUATED = stack(*CALL, TORCH + "utils/_contextlib.py:decorate_context", *PROGRAM)
GENERATED = stack(
    PACKAGES + "transformers/cache_utils.py:update",
    *CALL,
    PACKAGES + "transformers/generation/utils.py:generate",
    TORCH + "utils/_contextlib.py:decorate_context",
    *PROGRAM,
)
BACKWARD = stack(TORCH + "autograd/graph.py:_engine_run_backward", TORCH + "_tensor.py:backward", *PROGRAM)
OWN_FUNCTION = stack("/home/ada/model.py:backward", TORCH + "autograd/function.py:apply")
RECOMPUTED = stack(*CALL, TORCH + "utils/checkpoint.py:unpack_hook")
CLEARED = stack(TORCH + "optim/optimizer.py:zero_grad", *PROGRAM)
STATE = stack(TORCH + "optim/adam.py:_init_group", TORCH + "optim/optimizer.py:wrapper", *PROGRAM)
UPDATE = stack("/home/ada/sgd.py:step", TORCH + "optim/optimizer.py:wrapper", *PROGRAM)
UPDATER_BUILT = stack("/home/ada/sgd.py:__init__", *PROGRAM)
WORKSPACE = [{"filename": "??", "name": "at::cuda::getNewWorkspace()", "line": 0}, *FORWARD]


class Snapshot:
    """A history of one card. Each block has a size in MiB and lies at its number times a GiB."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "snapshot.pickle"
        self.history: list[JsonObject] = []
        self.sizes: dict[int, int] = {}

    def alloc(self, number: int, frames: Frames, size: int = MIB) -> None:
        self.sizes[number] = size
        self._add("alloc", number, frames)

    def free(self, number: int, frames: Frames | None = None) -> None:
        self._add("free_requested", number, frames or [])
        self._add("free_completed", number, frames or [])

    def fail(self, frames: Frames) -> None:
        self.sizes[0] = 999 * MIB
        self._add("oom", 0, frames)
        self.history[-1]["device_free"] = MIB

    def _add(self, action: str, number: int, frames: Frames) -> None:
        entry = {"action": action, "addr": number << 30, "size": self.sizes[number], "stream": 0, "frames": frames}
        self.history.append(entry | {"time_us": len(self.history)})

    def read(self, segments: list[JsonObject] | None = None) -> list[JsonObject]:
        self.path.write_bytes(pickle.dumps({"segments": segments or [], "device_traces": [self.history]}))
        done = memtrace("export", "--to", "jsonl", "-o", "-", str(self.path))
        assert done.status == 0, done.err
        return [json.loads(line) for line in done.out.splitlines()]

    def blocks(self) -> dict[int, JsonObject]:
        """Returns the final state of each block, by number."""
        return {int(event["address"], 16) >> 30: event for event in self.read() if event["event"] == "alloc"}

    def roles(self) -> dict[int, str]:
        return {number: block["role"] for number, block in self.blocks().items()}

    def phases(self) -> list[str]:
        return [event["phase"] for event in self.blocks().values()]


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return Snapshot(tmp_path)


def test_training_step_has_its_phases(snapshot: Snapshot) -> None:
    stacks = [PLAIN, LOADED, FORWARD, PLAIN, ENGINE, RECOMPUTED, OWN_FUNCTION, NATIVE, PLAIN, STATE, UPDATE, PLAIN]
    for number, frames in enumerate(stacks, 1):
        snapshot.alloc(number, frames)
    assert snapshot.phases() == [
        "init", "init", "forward", "forward", "backward", "recompute", "backward", "backward", "other", "optimizer",
        "optimizer", "other",
    ]  # fmt: skip
    known = {block["role_known"] for block in snapshot.blocks().values()}
    assert known == {"guessed", "unknown"}


@pytest.mark.parametrize(
    ("frames", "phase"),
    [(EVALUATED, "evaluate"), (GENERATED, "generate"), (BACKWARD, "backward"), (UPDATE, "optimizer")],
)
def test_surrounding_frames_determine_the_phase(snapshot: Snapshot, frames: Frames, phase: str) -> None:
    snapshot.alloc(1, frames)
    assert snapshot.phases() == [phase]


def test_no_grad_function_inside_a_module_is_forward(snapshot: Snapshot) -> None:
    inside = stack("/home/ada/rope.py:forward", TORCH + "utils/_contextlib.py:decorate_context", *CALL, *PROGRAM)
    snapshot.alloc(1, inside)
    assert snapshot.phases() == ["forward"]


def test_empty_stacks_after_a_forward_are_backward(snapshot: Snapshot) -> None:
    for number, frames in enumerate([PLAIN, [], FORWARD, [], UPDATE, []], 1):
        snapshot.alloc(number, frames)
    assert snapshot.phases() == ["init", "init", "forward", "backward", "optimizer", "optimizer"]


def test_uninformative_stacks_make_no_phases(snapshot: Snapshot) -> None:
    for number, frames in enumerate([PLAIN, [], NATIVE], 1):
        snapshot.alloc(number, frames)
    snapshot.free(1)
    assert snapshot.phases() == ["other"] * 3
    assert set(snapshot.roles().values()) == {"unknown"}
    assert {event["event"] for event in snapshot.read()}.isdisjoint({"phase", "step", "relabel"})


def test_steps_end_with_the_first_update_after_a_backward(snapshot: Snapshot) -> None:
    stacks = [PLAIN, FORWARD, ENGINE, UPDATE, PLAIN, UPDATE, FORWARD, ENGINE, FORWARD, ENGINE, UPDATE, FORWARD]
    for number, frames in enumerate(stacks, 1):
        snapshot.alloc(number, frames)
    assert [event["step"] for event in snapshot.blocks().values()] == [0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3]


def test_roles_of_a_training(snapshot: Snapshot) -> None:
    names = {}

    def alloc(role: str, frames: Frames, size: int = MIB) -> int:
        number = len(names) + 1
        names[number] = role
        snapshot.alloc(number, frames, size)
        return number

    copy = alloc("temporary", LOADED)
    snapshot.free(copy, LOADED)
    alloc("parameter", LOADED)
    batch = alloc("unknown", PLAIN)
    inside = alloc("temporary", FORWARD)
    snapshot.free(inside, FORWARD)
    kept = alloc("activation", FORWARD)
    alloc("workspace", WORKSPACE)
    alloc("workspace", FORWARD, 8519680)
    on_the_way = alloc("temporary", ENGINE)
    snapshot.free(kept, ENGINE)
    snapshot.free(on_the_way, ENGINE)
    gradient = alloc("gradient", ENGINE)
    again = alloc("activation", RECOMPUTED)
    snapshot.free(again, ENGINE)
    alloc("gradient", OWN_FUNCTION)
    alloc("optimizer_state", STATE)
    foreach = alloc("temporary", UPDATE)
    snapshot.free(foreach, UPDATE)
    alloc("optimizer_state", UPDATE)  # still there when the trace ends
    snapshot.free(gradient, CLEARED)
    snapshot.free(batch, PLAIN)
    assert snapshot.roles() == names


def test_memory_left_by_the_backward_is_gradients(snapshot: Snapshot) -> None:
    snapshot.alloc(1, FORWARD)
    snapshot.alloc(2, ENGINE)
    snapshot.alloc(3, ENGINE)
    snapshot.alloc(4, RECOMPUTED)  # does not end it
    snapshot.free(2, ENGINE)
    snapshot.free(4, ENGINE)
    snapshot.free(3, CLEARED)
    assert snapshot.roles() == {1: "activation", 2: "temporary", 3: "gradient", 4: "activation"}


def test_unfinished_backward_recognises_gradients_by_size(snapshot: Snapshot) -> None:
    snapshot.alloc(1, LOADED, 7 * MIB)
    for number, size in ((2, 7 * MIB), (3, 9 * MIB)):
        snapshot.alloc(number, ENGINE, size)
    snapshot.fail(ENGINE)
    assert snapshot.roles() == {1: "parameter", 2: "gradient", 3: "temporary"}


def test_memory_of_a_failed_update_is_not_optimizer_state(snapshot: Snapshot) -> None:
    snapshot.alloc(1, UPDATE)
    snapshot.alloc(2, STATE)
    snapshot.fail(UPDATE)
    assert snapshot.roles() == {1: "temporary", 2: "optimizer_state"}


def test_memory_left_by_a_call_is_an_activation_without_a_backward(snapshot: Snapshot) -> None:
    for number in (1, 2, 3):
        snapshot.alloc(number, FORWARD)
    snapshot.free(1, FORWARD)
    snapshot.free(2, PLAIN)
    snapshot.fail(FORWARD)
    snapshot.free(3, FORWARD)  # freed as the error leaves the call
    assert snapshot.roles() == {1: "temporary", 2: "activation", 3: "activation"}


def test_memory_freed_before_the_backward_is_temporary(snapshot: Snapshot) -> None:
    snapshot.alloc(1, FORWARD)
    snapshot.free(1, PLAIN)
    snapshot.alloc(2, ENGINE)
    assert snapshot.roles()[1] == "temporary"


def test_constructors_have_the_role_of_their_file(snapshot: Snapshot) -> None:
    other = stack("/home/ada/loader.py:__init__", *PROGRAM)
    for number, frames in enumerate([BUILT, UPDATER_BUILT, other, FORWARD, UPDATE], 1):
        snapshot.alloc(number, frames)
    assert [snapshot.roles()[number] for number in (1, 2, 3)] == ["parameter", "optimizer_state", "unknown"]


def test_parameter_replaced_by_an_update_stays_a_parameter(snapshot: Snapshot) -> None:
    snapshot.alloc(1, LOADED)
    snapshot.alloc(2, UPDATE)
    snapshot.free(1, UPDATE)
    snapshot.alloc(3, PLAIN)
    snapshot.alloc(4, UPDATE)
    snapshot.free(2, UPDATE)
    assert snapshot.roles() == {1: "parameter", 2: "parameter", 3: "unknown", 4: "parameter"}


def test_blocks_of_a_moment_have_the_roles_of_their_stacks(snapshot: Snapshot) -> None:
    stacks = {
        "parameter": LOADED,
        "activation": FORWARD,
        "gradient": ENGINE,
        "optimizer_state": UPDATE,
        "unknown": PLAIN,
    }
    block = {"size": MIB, "requested_size": MIB, "state": "active_allocated"}
    blocks = [{**block, "address": MIB * i, "frames": f} for i, f in enumerate(stacks.values(), 1)]
    segment = {"device": 0, "address": MIB, "total_size": 20 * MIB, "stream": 0, "blocks": blocks}
    alive = [event for event in snapshot.read([segment]) if event["event"] == "alive"]
    assert [event["role"] for event in alive] == list(stacks)


def test_report_states_that_roles_are_guessed(snapshot: Snapshot) -> None:
    snapshot.alloc(1, LOADED)
    snapshot.alloc(2, FORWARD, 3 * MIB)
    snapshot.alloc(3, PLAIN)
    snapshot.fail(FORWARD)
    snapshot.read()
    text = memtrace("report", "--verbose", str(snapshot.path)).out
    assert "parameters~" in text and "activations~" in text and "activations (guessed)" in text
    assert "guessed from stacks (~)" in text and "inferred" not in text
    tree = memtrace("tree", str(snapshot.path)).out
    assert "activations ~" in tree and "guessed from stacks" in tree and "*" not in tree
    report = json.loads(memtrace("report", "--json", str(snapshot.path)).out)
    assert (report["request"]["role"], report["request"]["role_known"]) == ("activation", "guessed")
    for rows in (report["peak"]["by_role"], report["holdings"]):
        assert all(row["stated_bytes"] == row["inferred_bytes"] == 0 for row in rows)
        assert sum(row["guessed_bytes"] for row in rows) == sum(row["bytes"] for row in rows)


def test_block_with_a_lost_free_is_treated_as_freed(snapshot: Snapshot) -> None:
    snapshot.alloc(1, FORWARD)
    snapshot.fail(FORWARD)
    snapshot.alloc(1, PLAIN, 2 * MIB)
    roles = [event["role"] for event in snapshot.read() if event["event"] == "alloc"]
    assert roles[0] == "activation"
