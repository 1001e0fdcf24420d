# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A function that memtrace replaces can be found behind the replacement, and restored."""

import functools
import subprocess

import pytest
from memtrace._patching import patches
from support.programs import MEMTRACE


@pytest.fixture(autouse=True)
def of_its_own(monkeypatch):
    monkeypatch.setattr(patches, "_patches", [])


class Base:
    def inherited(self):
        return "inherited"


class Owner(Base):
    def method(self):
        return "method"

    @staticmethod
    def static():
        return "static"


def around(original):
    @functools.wraps(original)
    def call(*args):
        return "around " + original(*args)

    return call


def put_around(name):
    patches.put(Owner, name, around(getattr(Owner, name)), f"tests.Owner.{name}: to see it")


@pytest.mark.parametrize("name", ["method", "static", "inherited"])
def test_patch_is_called_and_undone(name):
    before = vars(Owner).get(name)
    put_around(name)
    assert getattr(Owner(), name)() == f"around {name}"
    assert getattr(Owner, name).__wrapped__
    assert patches.undo() == []
    assert getattr(Owner(), name)() == name
    assert vars(Owner).get(name) is before


def test_latest_patch_is_undone_first():
    put_around("method")
    put_around("method")
    assert Owner().method() == "around around method"
    assert patches.undo() == []
    assert Owner().method() == "method"


def test_patch_wrapped_by_others_is_left_and_named(monkeypatch):
    put_around("method")
    monkeypatch.setattr(Owner, "method", around(Owner.method))
    (left,) = patches.undo()
    assert left.reason == "tests.Owner.method: to see it"
    assert Owner().method() == "around around method"
    monkeypatch.undo()
    assert Owner().method() == "around method"


def test_doctor_lists_patched_functions():
    listed = subprocess.run([MEMTRACE, "doctor", "--hooks"], capture_output=True, text=True, check=True, timeout=60)
    assert "torch.nn.Module.__call__: notes which module runs (_hooks/modules.py)\n" in listed.stdout
    assert len(listed.stdout.splitlines()) > 20
