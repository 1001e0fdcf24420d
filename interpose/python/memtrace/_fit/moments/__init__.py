# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the moments of a job happen within a trial (docs/design/whole-job.md, "The moments")."""

import os
from collections.abc import Callable
from types import ModuleType

from memtrace._fit.moments import also, checkpoints, generation, lightning, merging, plain, resume, routing, trainer
from memtrace._fit.moments.job import Job
from memtrace._fit.moments.loaders import Loaders
from memtrace._fit.moments.predictions import Predictions
from memtrace._fit.moments.rows import Rows
from memtrace._fit.moments.served_routing import ServedRouting
from memtrace._process.session import Session


def start(torch: ModuleType, session: Session, rows: Rows, batches: Loaders, look_ahead: Callable[[], object]) -> None:
    """Does what MEMTRACE_FIT_MOMENTS says (`job` or `resume`); without it, only names the gap of uneven routing.

    `look_ahead` names the gaps of moments that can still come.
    """
    routing.watch(session)
    wanted = os.environ.get("MEMTRACE_FIT_MOMENTS")
    if wanted == "job":
        batches.shorten(rows)
        job = Job(session, rows, look_ahead)
        routing.Routing(job, batches.uses)
        trainer.watch(torch, job)
        lightning.watch(job)
        generation.watch(job, ServedRouting(torch, job))
        merging.watch(job)
        plain.watch(torch, job)
        also.watch(torch, job)
        Predictions(torch, job)
        session.before_close.append(checkpoints.settle)
    elif wanted == "resume":
        resume.watch()
