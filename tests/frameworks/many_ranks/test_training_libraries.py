# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries for training: a few real ranks take the memory that they take if all ranks are real."""

import pytest
from compared_jobs import assert_same_memory, skip_without, titan_options
from frameworks_under_test import needs_frameworks

pytestmark = needs_frameworks


@pytest.mark.parametrize("stage", ["1", "2", "3"])
def test_deepspeed_zero_takes_the_same_memory(tmp_path, stage):
    assert_same_memory("deepspeed_zero.py", tmp_path, stage, ranks="0,3")


def test_deepspeed_pipeline_takes_the_same_memory(tmp_path):
    assert_same_memory("deepspeed_pipeline.py", tmp_path, ranks="0,2")


def test_accelerate_takes_the_same_memory(tmp_path):
    assert_same_memory("accelerate_fsdp.py", tmp_path, ranks="0,3")


def test_trainer_of_transformers_takes_the_same_memory(tmp_path):
    assert_same_memory("trainer_fsdp.py", tmp_path, str(tmp_path / "out"), ranks="0,3")


@pytest.mark.parametrize(("pipeline", "ranks"), [("2", "0,2"), ("1", "0,3")])
def test_megatron_takes_the_same_memory(tmp_path, pipeline, ranks):
    skip_without("megatron.core")
    assert_same_memory("megatron_gpt.py", tmp_path, "2", pipeline, ranks=ranks)


def test_torchtitan_takes_the_same_memory(tmp_path):
    skip_without("torchtitan")
    assert_same_memory("titan_train.py", tmp_path, *titan_options(tmp_path), ranks="0,3")


def test_torchtitan_with_experts_takes_the_same_memory(tmp_path):
    skip_without("torchtitan")
    options = titan_options(tmp_path, model__name="deepseek_v3", parallelism__expert_parallel_degree=4)
    switches = ("--debug.moe_force_load_balance", "--compile.components=[]")
    assert_same_memory("titan_train.py", tmp_path, *options, *switches, ranks="0,3")
