# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""LoRA by peft: adapters beside a frozen model."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._estimate.problem import ProblemError, first_line, package

if TYPE_CHECKING:
    from torch.nn import Module

# Tasks whose heads are new and trained completely.
_TASKS = {
    "ForSequenceClassification": "SEQ_CLS",
    "ForTokenClassification": "TOKEN_CLS",
    "ForQuestionAnswering": "QUESTION_ANS",
}
# The modules that diffusers' own training scripts adapt.
_ATTENTION = ["to_q", "to_k", "to_v", "to_out.0"]


def add_lora(model: Module, rank: int, *, is_of_diffusers: bool) -> Module:
    """Returns `model` with adapters in peft's default places. Raises ProblemError if there is nothing to adapt."""
    peft = package("peft", "--lora")
    common = {"r": rank, "lora_alpha": 2 * rank}
    try:
        if is_of_diffusers:
            model.requires_grad_(False)
            model.add_adapter(peft.LoraConfig(**common, target_modules=_ATTENTION))
            return model
        return peft.get_peft_model(model, peft.LoraConfig(**common, **_of_transformers(peft, model)))
    except ValueError as error:
        name = type(model).__name__
        raise ProblemError(f"--lora: peft finds no module to adapt in {name}: {first_line(error)}") from None


def _of_transformers(peft: ModuleType, model: Module) -> dict[str, object]:
    name = type(model).__name__
    known = peft.utils.TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
    return {
        "task_type": next((task for ending, task in _TASKS.items() if name.endswith(ending)), None),
        "target_modules": None if model.config.model_type in known else "all-linear",
    }
