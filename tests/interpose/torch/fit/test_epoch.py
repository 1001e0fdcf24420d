# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which loaders train, as the order of batches and backward passes shows, and how often the largest batch is given."""

from memtrace._fit.moments.epoch import Epoch, Uses
from memtrace._fit.moments.loader_record import LoaderRecord
from memtrace._fit.moments.measured import MeasuredItems


class Steps:
    """The part of a session that loaders watch."""

    def __init__(self):
        self.after_step, self.before_backward, self.step_number = [], [], 0

    def backward(self):
        for watch in self.before_backward:
            watch()

    def step(self):
        for watch in self.after_step:
            watch(False)
        self.step_number += 1


def epoch_of(uses: Uses, prefetched: int = 0) -> Epoch:
    return Epoch(uses, LoaderRecord("train.py:1", "list", MeasuredItems(1)), prefetched)


def test_validation_between_training_batches_does_not_train():
    steps = Steps()
    uses = Uses(steps)
    training = epoch_of(uses)
    for _ in range(3):
        training.given(None)
        steps.backward()
        steps.step()
        validation = epoch_of(uses)
        validation.given(None)  # a part of it: it does not end
        assert not validation.record.trains
    training.given(None)
    steps.backward()
    assert training.record.trains and not validation.record.trains


def test_two_loaders_of_one_loop_both_train():
    steps = Steps()
    uses = Uses(steps)
    first, second = epoch_of(uses), epoch_of(uses)
    for _ in range(2):
        first.given(None)
        second.given(None)
        steps.backward()
    assert first.record.trains and second.record.trains


def asked(epoch: Epoch, kind: int = 0) -> int:
    """Returns how often the largest batch is asked for before another one, without a step."""
    given = epoch.follow(iter((None, kind) for _ in range(100)))
    for count in range(1, 100):
        next(given)
        if not epoch.wants_again():
            return count
    return 100


def test_loop_without_backward_gets_the_largest_batch_a_few_times():
    assert asked(epoch_of(Uses(Steps()))) == 4
    assert asked(epoch_of(Uses(Steps()), prefetched=6)) == 10


def test_largest_batch_is_given_until_two_steps_were_made():
    steps = Steps()
    uses = Uses(steps)
    epoch = epoch_of(uses)
    given = epoch.follow(iter((None, 0) for _ in range(100)))
    count = 0
    while count == 0 or epoch.wants_again():
        epoch.given(next(given))
        steps.backward()
        count += 1
        if count % 8 == 0:  # a step has 8 micro-batches
            steps.step()
    assert count == 16
    epoch.note_steps()
    assert epoch.record.has_two_steps and epoch.record.steps[0] == (1, 1)
    assert not Epoch(uses, epoch.record, 0).is_first


def test_largest_batch_is_in_the_step_of_its_backward_pass():
    steps = Steps()
    epoch = epoch_of(Uses(steps))
    given = epoch.follow(iter([(None, 0), (None, 0), (None, None), (None, None)]))
    next(given)
    epoch.given(None)
    for ahead in given:
        epoch.given(ahead)
        steps.step_number += 1  # it generates
        steps.backward()
        steps.step()
    # The batches are used in the steps 1, 3 and 5; the first two are the largest.
    assert epoch.record.steps == {0: (1, 3)}
