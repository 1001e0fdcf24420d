# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The child in which a trial reads the items of a data set: what it leaves in the program's process."""

import os
import random
import time
from pathlib import Path

from memtrace._fit.moments.forked import in_child


def test_random_state_and_offsets_of_files_stay(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("0123456789")
    state = random.getstate()
    with open(tmp_path / "data", "rb", buffering=0) as file:
        file.seek(3)

        def work():
            random.random()
            yield file.read(4)
            os.environ["CHANGED"] = "1"
            yield file.read(1)

        assert list(in_child(work, 10)) == [b"3456", b"7"]
        assert file.read(2) == b"34"
    assert random.getstate() == state and "CHANGED" not in os.environ


def test_large_objects_arrive_whole() -> None:
    assert [len(made) for made in in_child(lambda: [bytes(3 << 20), b"", bytes(70_000)], 10)] == [3 << 20, 0, 70_000]


def test_error_and_sudden_end_keep_what_was_made() -> None:
    def raising():
        yield 1
        raise ValueError

    def dying():
        yield 1
        os.kill(os.getpid(), 9)
        yield 2

    assert list(in_child(raising, 10)) == [1] and list(in_child(dying, 10)) == [1]


def test_child_that_hangs_is_ended() -> None:
    def hanging():
        yield os.getpid()
        time.sleep(1000)

    (child,) = in_child(hanging, 0)
    assert not Path(f"/proc/{child}").exists()


def test_caller_that_stops_early_ends_the_child() -> None:
    def endless():
        while True:
            yield os.getpid()

    made = in_child(endless, 10)
    child = next(made)
    made.close()
    assert not Path(f"/proc/{child}").exists()
