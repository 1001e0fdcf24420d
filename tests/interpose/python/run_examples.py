# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in the docstrings of public names, in the given order.

Usage: run_examples.py NAME... A name is a path from `memtrace`, such as `tag` or `callbacks.FitCallback`; those of a
class include its methods. Prints what fails, as doctest does. The last line of stdout is a JSON object: the source of
the examples by the path of their object, and the number of failures.
"""

import doctest
import importlib
import importlib.util
import inspect
import json
import sys
import types

from memtrace._estimate import experiment
from memtrace._estimate.answer import Estimate
from memtrace._estimate.description import Job


def stand_in_for_lightning() -> None:
    """Gives LightningFitCallback a class to derive from if Lightning is not installed."""
    if importlib.util.find_spec("lightning") is None:
        module = types.ModuleType("lightning.pytorch")
        module.Callback = object
        sys.modules[module.__name__] = module


def make_each_experiment_once() -> None:
    """Keeps the results of experiments, because several examples make the same one and each takes seconds."""
    run, known = experiment.run, {}

    def run_once(job: Job, card: str | None, steps: int) -> Estimate:
        key = str((job.model, job.optimizer, [argument.shape for argument in job.args], card, steps))
        if key not in known:
            known[key] = run(job, card, steps)
        return known[key]

    experiment.run = run_once


def documented(path: str) -> dict[str, object]:
    """Returns the object and, if it is a class, its public methods and properties, by path."""
    package, _, name = f"memtrace.{path}".rpartition(".")
    value = getattr(importlib.import_module(package), name)
    found = {path: value}
    for inner, member in vars(value).items() if inspect.isclass(value) else ():
        is_public = inner == "__call__" or not inner.startswith("_")
        if is_public and isinstance(member, (property, types.FunctionType)):
            found[f"{path}.{inner}"] = member
    return found


def main(paths: list[str]) -> None:
    stand_in_for_lightning()
    make_each_experiment_once()
    runner = doctest.DocTestRunner(verbose=False)
    sources = {}
    for path in paths:
        for name, value in documented(path).items():
            test = doctest.DocTestParser().get_doctest(inspect.getdoc(value) or "", {}, name, None, 0)
            sources[name] = "".join(example.source for example in test.examples)
            runner.run(test)
    print(json.dumps({"sources": sources, "failures": runner.failures}))


if __name__ == "__main__":
    main(sys.argv[1:])
