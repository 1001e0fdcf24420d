# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The labels that a transformers model needs for its own loss, by the task in its class's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtrace._estimate.call import Call

if TYPE_CHECKING:
    from torch import Tensor

_OF_EACH_TOKEN = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForMaskedLM", "ForTokenClassification")
_OF_EACH_SAMPLE = ("ForImageClassification", "ForVideoClassification", "ForAudioClassification", "ForMultipleChoice")
_LETTERS = 32  # letters of the transcript of a sample of sound


def labels(call: Call, inputs: dict[str, Tensor]) -> dict[str, Tensor | bool]:
    """Returns the arguments that make forward return a loss; none if the task is not known."""
    import torch

    name, batch = type(call.model).__name__, len(next(iter(inputs.values())))
    if "return_loss" in call.names:
        return {"return_loss": True}
    if name.endswith("ForQuestionAnswering") and "start_positions" in call.names:
        return {place: torch.ones(batch, dtype=torch.long) for place in ("start_positions", "end_positions")}
    if "labels" not in call.names:
        return {}
    if name.endswith("ForSequenceClassification"):
        is_number = call.config.num_labels == 1
        return {"labels": torch.zeros(batch, dtype=call.dtype if is_number else torch.long)}
    if name.endswith(_OF_EACH_SAMPLE):
        return {"labels": torch.zeros(batch, dtype=torch.long)}
    if name.endswith("ForTokenClassification"):
        return {"labels": torch.zeros_like(inputs["input_ids"])}
    if name.endswith("ForCTC"):
        return {"labels": torch.ones(batch, _LETTERS, dtype=torch.long)}
    if name.endswith("ForSemanticSegmentation"):
        return {"labels": torch.zeros(batch, *inputs["pixel_values"].shape[-2:], dtype=torch.long)}
    if name.endswith(_OF_EACH_TOKEN):
        ids = inputs.get("input_ids")
        return {"labels": torch.ones(batch, call.seq, dtype=torch.long) if ids is None else ids.clone()}
    return {}
