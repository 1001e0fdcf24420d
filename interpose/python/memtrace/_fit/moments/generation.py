# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes each call of transformers' `generate` as long as the program allows: no token ends the text."""

from __future__ import annotations

import functools
from types import ModuleType

from memtrace._core.vocabulary import MOMENT_GENERATION
from memtrace._fit.moments.job import Job
from memtrace._fit.moments.library_methods import method_of
from memtrace._fit.moments.served_routing import ServedRouting
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

_NO_TOKEN = -1  # None would be replaced by the model's own


def watch(job: Job, routing: ServedRouting) -> None:
    """Watches transformers, once it is imported. TRL's trainers generate by the same function, unless vLLM does."""
    when_imported("transformers.generation.utils", lambda module: _watch(module, job, routing))


def _watch(module: ModuleType, job: Job, routing: ServedRouting) -> None:
    found = method_of(module, "GenerationMixin.generate", MOMENT_GENERATION)
    if found is None:
        return
    owner, generate = found

    @functools.wraps(generate)
    def longest(*args: object, **kwargs: object) -> object:
        kwargs["eos_token_id"] = _NO_TOKEN

        def run() -> object:
            with job.rows.during(MOMENT_GENERATION):
                return generate(*args, **kwargs)

        if job.rows.is_in(MOMENT_GENERATION):
            return generate(*args, **kwargs)
        return routing.around(lambda: generate(*args, **kwargs), run, args, kwargs)

    patches.put(
        owner,
        "generate",
        longest,
        "transformers.GenerationMixin.generate: generates as long a text as it may, in a trial of fit",
    )
