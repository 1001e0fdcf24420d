# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sharded checkpoints (torch.distributed.checkpoint): real ranks write their parts, virtual ranks write nothing."""

from __future__ import annotations

import dataclasses
import functools
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches
from memtrace._virtual_ranks.ranks import Job

if TYPE_CHECKING:
    from torch.distributed.checkpoint import SavePlan


def prepare(planner: ModuleType, job: Job) -> None:
    """Takes the plans of virtual ranks, which repeat a real rank's, out of the whole plan."""
    remove_duplicates = planner.dedup_save_plans

    @functools.wraps(remove_duplicates)
    def plan_real_ranks(plans: list[SavePlan], *args: object, **kwargs: object) -> object:
        if len(plans) == job.ranks.size:
            plans = [
                plan if job.ranks.index(rank) is not None else dataclasses.replace(plan, items=[])
                for rank, plan in enumerate(plans)
            ]
        return remove_duplicates(plans, *args, **kwargs)

    patches.put(
        planner,
        "dedup_save_plans",
        plan_real_ranks,
        "torch.distributed.checkpoint.default_planner.dedup_save_plans: virtual ranks write nothing",
    )

    # Torch asks whether the plan is valid or, since 2.15, for the list of its errors.
    validate = getattr(planner, "_validate_global_plan", None)
    says_yes = getattr(validate, "__annotations__", {}).get("return") in (bool, "bool")

    def accept(*args: object) -> object:
        return True if says_yes else []

    patches.put(
        planner,
        "_validate_global_plan",
        accept,
        "torch.distributed.checkpoint.default_planner._validate_global_plan: parts of virtual ranks are missing",
    )
