# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functional copies of a model (torch.func, higher): parameters with paths, owned by the tag they are made in."""

import pytest
from frameworks_under_test import assert_complete, needs_frameworks, run
from support.events import blocks

pytestmark = needs_frameworks


@pytest.mark.parametrize("kind", ["func", "higher"])
def test_functional_copy_has_parameters_and_an_owner(tmp_path, kind):
    finished = run("functional_copy.py", tmp_path, kind)
    told = finished.printed()
    assert_complete(finished, told)
    born = blocks(finished.trace)
    copied = [block for block in born if block.role == "parameter" and block.final_owner == "edited_model"]
    assert sum(block.bytes for block in copied) == told["copies"] == told["parameters"]
    # The first backward goes through the copy and belongs to it; the second goes through the model itself.
    passes = {(block.micro_batch, block.owner) for block in born if block.phase == "backward"}
    assert passes == {(1, "edited_model"), (2, "")}
    assert {"0.weight", "0.bias", "2.weight", "2.bias"} == {block.labels[-1]["path"] for block in copied}
