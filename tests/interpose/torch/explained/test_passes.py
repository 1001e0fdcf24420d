# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Forward passes whose graphs stay: the report tells training from evaluation, and a named cure works."""

from pathlib import Path

from support.json_object import JsonObject
from support.programs import MIB, memtrace, on_card

# A pass keeps 8 outputs of 4 MiB.
MODEL = """
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(1024, 1024), nn.Tanh())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
SUMMED = """
for step in range(2):
    optimizer.zero_grad()
    loss = 0.0
    for view in range(8):
        loss = loss + model(torch.zeros(1024, 1024, device="cuda")).mean()
    loss.backward()
    optimizer.step()
"""
BACKWARD_IN_EACH = """
for step in range(2):
    optimizer.zero_grad()
    for view in range(8):
        model(torch.zeros(1024, 1024, device="cuda")).mean().backward()
    optimizer.step()
"""
# Each layer is called by itself, so the layers are outermost modules of one pass.
LAYERS = """
x = torch.zeros(4096, 1024, device="cuda")
for layer in model:
    x = layer(x)
x.sum().backward()
"""
TRAINED = """
def train():
    model.train()
    for step in range(2):
        loss = model(torch.zeros(1024, 1024, device="cuda")).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
VALIDATED = """
def validate():
    model.eval()
    output = model(torch.zeros(8192, 1024, device="cuda"))
    return output.mean().item()
train()
validate()
"""
# The layers of a frozen normalization stay in eval mode during training.
TRAINED_IN_EVAL = """
train()
model.eval()
for rows in (1024, 8192):
    model(torch.zeros(rows, 1024, device="cuda")).mean().backward()
"""
# A frozen critic judges the trained model: its activations are needed for the backward that follows.
CRITIC = """
critic = nn.Sequential(nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh()).cuda().eval()
for rows in (1024, 1024, 8192):
    made = model[0](torch.zeros(rows, 1024, device="cuda"))
    loss = critic(made).mean() + critic(made + 1).mean() + model[2](made).mean()
    loss.backward()
"""


def told(script: str, folder: Path, card: str, status: int = 1) -> tuple[JsonObject, JsonObject, str]:
    """Runs the script; returns the report, its remedies by name, and its text."""
    done = on_card(MODEL + script, folder, card=f"{card},context=100MiB", expect=status)
    report = done.report()
    text = " ".join(memtrace("report", "--verbose", str(done.trace)).out.split())
    return report, {row["name"]: row for row in report["remedies"]}, text


def test_losses_summed_before_one_backward_are_named(tmp_path: Path) -> None:
    report, rows, text = told(SUMMED, tmp_path, "290MiB")
    assert "no graph" not in rows and "torch.no_grad" not in text, text
    first = report["remedies"][0]
    assert first["name"] == "a backward in each pass", rows
    assert "train.py:10" in first["change"] and "train.py:12" in first["change"] and "'loss'" in first["change"]
    assert (
        "adds up the losses of its passes in 'loss', and the backward pass comes only after them (train.py:12)" in text
    )
    assert first["predicted_peak"] < 230 * MIB


# Each sampling step continues from the previous one's result, and one backward covers all of them.
HANDED_ON = """
x = torch.zeros(512, 1024, device="cuda")
for step in range(24):
    x = x - 0.1 * model(x)
loss = x.mean()
loss.backward()
"""


def test_value_carried_to_one_backward_is_not_to_be_detached(tmp_path: Path) -> None:
    report, rows, text = told(HANDED_ON, tmp_path, "290MiB")
    assert report["growth"]["keeper"]["name"] == "x", report["growth"]
    assert "Each pass of the loop at train.py:8 hands 'x' on to the next, and the backward pass" in text, text
    assert "do not keep" not in rows and "no graph" not in rows, rows
    assert ".detach()" not in text and "no_grad" not in text, text


def test_backward_in_each_pass_completes(tmp_path: Path) -> None:
    on_card(MODEL + BACKWARD_IN_EACH, tmp_path, card="290MiB,context=100MiB")


def test_layers_called_one_by_one_are_one_pass(tmp_path: Path) -> None:
    report, rows, text = told(LAYERS, tmp_path, "200MiB")
    assert report["kept_for_backward"]["in_vain"] is False
    assert "no graph" not in rows and "no_grad" not in text, text


def test_validation_with_gradients_is_recognised_by_eval_mode(tmp_path: Path) -> None:
    report, rows, text = told(TRAINED + VALIDATED, tmp_path, "300MiB")
    assert report["kept_for_backward"]["eval"] is True
    assert report["remedies"][0]["name"] == "no graph" and "eval mode" in report["remedies"][0]["change"], rows
    assert "half the micro-batch" not in rows
    assert "The model is in eval mode, but gradients are on." in text


def test_validation_without_gradients_completes(tmp_path: Path) -> None:
    cured = VALIDATED.replace("    output", "    with torch.no_grad():\n        output")
    on_card(MODEL + TRAINED + cured, tmp_path, card="300MiB,context=100MiB")


def test_validation_has_its_own_batch_remedy(tmp_path: Path) -> None:
    trained = TRAINED.replace("model.train()", "optimizer = torch.optim.Adam(model.parameters())\n    model.train()")
    validated = VALIDATED.replace("    output =", "    torch.set_grad_enabled(False)\n    output =").replace(
        "8192", "20000"
    )
    _, rows, _ = told(trained + validated, tmp_path, "350MiB")
    assert "half the batch" in rows and "half the micro-batch" not in rows, rows


# Per-sample gradients: a checkpoint fails within torch.func.
PER_SAMPLE = """
from torch.func import functional_call, grad, vmap
weights = {name: weight.detach() for name, weight in model.named_parameters()}
def loss_of(weights, x):
    return functional_call(model, weights, (x,)).mean()
vmap(grad(loss_of), in_dims=(None, 0))(weights, torch.zeros(256, 64, 1024, device="cuda"))
"""


def test_layers_within_a_function_transform_are_not_to_be_checkpointed(tmp_path: Path) -> None:
    _, rows, _ = told(PER_SAMPLE, tmp_path, "600MiB")
    assert "gradient checkpointing" not in rows, rows


def test_training_in_eval_mode_is_not_a_validation(tmp_path: Path) -> None:
    _, rows, text = told(TRAINED + TRAINED_IN_EVAL, tmp_path, "300MiB")
    assert "no graph" not in rows and "eval mode" not in text, text


def test_frozen_part_in_eval_mode_keeps_its_graph(tmp_path: Path) -> None:
    _, rows, text = told(CRITIC, tmp_path, "230MiB")
    assert "no graph" not in rows and "no_grad" not in text, text


# The second forward runs beside 32 MiB of gradients, which the first did not; 64 MiB of states are predicted.
LEFT_GRADIENTS = """
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(2):
    loss = model(torch.zeros(8192, 1024, device="cuda")).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_gradients_left_by_the_previous_step_are_added_to_the_prediction(tmp_path: Path) -> None:
    report, rows, text = told(LEFT_GRADIENTS, tmp_path, "548MiB")
    assert report["request"]["at"]["step"] == 2, text
    assert (
        "this one needs at least" in text and "32.0 MiB of gradients that the step before left may come on top" in text
    )
    assert rows["a larger card"]["at_least"] is True
    assert rows["no gradients left"]["predicted_peak"] < rows["a larger card"]["predicted_peak"]
