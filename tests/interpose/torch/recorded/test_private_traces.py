# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A trace holds no secrets, and only its owner may read it, unless the user asks for more."""

import stat

import pytest
from support.programs import memtrace, on_card, on_its_own

SCRIPT = "import torch\ntorch.zeros(1, device='cuda')\n"
SECRETS = ("hunter2", "s3cr3t", "pa55", "hf_abcdefghijklmnopqrstuvwxyz")
ARGUMENTS = (
    "--api-token=hunter2",
    "--password",
    "s3cr3t",
    "--url=https://ann:pa55@host/x",
    "hf_abcdefghijklmnopqrstuvwxyz",
    "--lr",
    "0.1",
)


def test_secrets_of_the_command_are_not_in_the_file(tmp_path):
    run = on_card(SCRIPT, tmp_path, *ARGUMENTS)
    recorded = run.trace.read_bytes()
    assert [secret for secret in SECRETS if secret.encode() in recorded] == []
    command = run.report()["run"]["command"]
    assert "--api-token=*** --password *** --url=https://ann:***@host/x *** --lr 0.1" in command


def test_secrets_are_kept_on_request(tmp_path):
    run = on_card(SCRIPT, tmp_path, *ARGUMENTS, options=("--keep-secrets",))
    command = run.report()["run"]["command"]
    assert all(secret in command for secret in SECRETS)


def test_enabling_memtrace_in_the_program_also_hides_secrets(tmp_path):
    script = (
        "import sys\nsys.orig_argv.append('--api-token=hunter2')\nimport memtrace\nmemtrace.simulated_card('1GiB')\n"
    )
    assert on_its_own(script + "memtrace.enable()\n" + SCRIPT, tmp_path).returncode == 0
    trace = tmp_path / "run.trace"
    assert b"hunter2" not in trace.read_bytes()
    assert "--api-token=***" in memtrace("report", "--json", str(trace)).out


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_trace_is_readable_only_by_its_owner(tmp_path, mask):
    script = f"import os\nos.umask({mask})\n{SCRIPT}"
    assert stat.S_IMODE(on_card(script, tmp_path).trace.stat().st_mode) == 0o600
