# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which calls in the text of a program can still come, if it is at the line that has the comment `HERE`."""

import ast

import pytest
from memtrace._fit.call_sites import CallSites, RunningLine

LOOP = """
def evaluate(model):
    model.eval()

def unused(model):
    model.generate()

def train(model):
    teacher.eval()
    for step in range(100):
        model()  # HERE train
        if step % 50 == 0:
            evaluate(model)
    model.merge_and_unload()

train(model)  # HERE <module>
"""

BRANCHES = """
model.eval()
if training:
    model()  # HERE <module>
else:
    model.generate()
try:
    model()
except MemoryError:
    model.eval()
table.eval("a + b")
"""

VALUES = """
class Callback(Base):
    def on_save(self, model):
        model.eval()

    def unused(self, model):
        model.merge_and_unload()

def sample(model):
    model.generate()

start(model, after=sample, callbacks=[Callback()])  # HERE <module>
"""


def running(text: str) -> list[RunningLine]:
    lines = enumerate(text.splitlines(), 1)
    return [RunningLine("a.py", line.split("# HERE ")[1], number) for number, line in lines if "# HERE" in line]


def sites_of(text: str) -> CallSites:
    sites = CallSites()
    sites.read("a.py", ast.parse(text))
    return sites


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LOOP, [("evaluation", 3), ("best_model", 14)]),
        (BRANCHES, []),
        (VALUES, [("evaluation", 4)]),
    ],
)
def test_calls_to_come_are_found(text: str, found: list[tuple[str, int]]) -> None:
    assert sorted((site.first, site.moment) for site in sites_of(text).to_come(running(text))) == sorted(
        (line, moment) for moment, line in found
    )


def test_function_that_is_handed_over_comes_if_the_line_comes() -> None:
    text = "def sample(model):\n    model.generate()\n\nmodel()  # HERE <module>\nstart(after=sample)\n"
    assert [site.moment for site in sites_of(text).to_come(running(text))] == ["generation"]


def test_program_that_has_ended_has_nothing_to_come() -> None:
    assert list(sites_of(LOOP).to_come([])) == []


def test_argument_that_resumes_is_found_unless_it_is_never_set() -> None:
    text = "trainer.train(resume_from_checkpoint=args.resume)\ntrainer.train(resume_from_checkpoint=None)\n"
    assert [(site.name, site.first) for site in sites_of(text).resuming()] == [("resume_from_checkpoint", 1)]


def test_sources_in_which_all_call_each_other_are_looked_at_once() -> None:
    """Each of 8 functions calls the next 60 times: 60 to the power of 7 ways lead to the last one."""
    functions = [f"def f{n}(model):\n" + f"    f{n + 1}(model)\n" * 60 for n in range(7)]
    text = "".join(functions) + "def f7(model):\n    model.eval()\nmodel()  # HERE <module>\n"
    sites = CallSites()
    sites.read("a.py", ast.parse(text))
    assert not list(sites.to_come(running(text)))
    sites = CallSites()
    sites.read("a.py", ast.parse(text + "f0(model)\n"))
    assert [site.name for site in sites.to_come(running(text))] == ["eval"]
