# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Builds a model of transformers from its config.json."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._estimate import placement
from memtrace._estimate.config_folder import ConfigFolder
from memtrace._estimate.options import DTYPES, Options
from memtrace._estimate.problem import ProblemError, first_line, package

if TYPE_CHECKING:
    import torch
    from transformers import PretrainedConfig, PreTrainedModel


def build(folder: ConfigFolder, options: Options) -> PreTrainedModel:
    """Builds the class that `architectures` names, without memory. Raises ProblemError if that fails."""
    import torch

    transformers = package("transformers", str(folder.file))
    config = _config(transformers, folder)
    model_class = _class_of(transformers, folder, config)
    dtype = _dtype(torch, config, options)
    config.dtype = dtype
    _prepare(config, options)
    try:
        model = placement.build(lambda: model_class(config), dtype)
    except Exception as error:
        name = getattr(model_class, "__name__", "the model")
        raise ProblemError(f"{folder.file}: {name} cannot be built from this config: {first_line(error)}") from None
    _keep_in_fp32(torch, model, dtype)
    return model


def _config(transformers: ModuleType, folder: ConfigFolder) -> PretrainedConfig:
    if "quantization_config" in folder.values:
        raise ProblemError(
            f"{folder.file}: a quantized model cannot be built from its config alone. Remove quantization_config to "
            "estimate it unquantized, or run your script under memtrace fit."
        )
    if "model_type" not in folder.values:
        raise ProblemError(f"{folder.file} has neither a model_type nor a _class_name, so it describes no model.")
    try:
        return transformers.AutoConfig.from_pretrained(folder.path, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # a validator may raise anything
        kind = folder.values["model_type"]
        raise ProblemError(
            f"{folder.file}: transformers {transformers.__version__} rejects this config of type {kind!r}: "
            f"{first_line(error)}"
        ) from None


def _class_of(
    transformers: ModuleType, folder: ConfigFolder, config: PretrainedConfig
) -> Callable[[PretrainedConfig], PreTrainedModel]:
    names = config.architectures or []
    if not names:
        return transformers.AutoModel.from_config  # type: ignore[no-any-return]
    found = getattr(transformers, names[0], None)
    if found is None:
        raise ProblemError(
            f"{folder.file}: transformers {transformers.__version__} has no class {names[0]!r}. "
            "Name a class that it has in architectures."
        )
    return found  # type: ignore[no-any-return]


def _prepare(config: PretrainedConfig, options: Options) -> None:
    """Sets options that a config may leave open, like a training script."""
    if options.is_trained:  # like transformers' Trainer
        config.use_cache = config.get_text_config().use_cache = False
    if config.is_encoder_decoder and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = 0  # labels are shifted by it
    if getattr(config, "pad_token_id", None) is None:  # a classifier needs it to find the last token
        config.pad_token_id = config.get_text_config().pad_token_id = 0


def _dtype(torch: ModuleType, config: PretrainedConfig, options: Options) -> torch.dtype:
    if options.dtype is not None:
        return getattr(torch, DTYPES[options.dtype])
    dtype = config.dtype
    return dtype if isinstance(dtype, torch.dtype) and dtype.is_floating_point else torch.float32


def _keep_in_fp32(torch: ModuleType, model: PreTrainedModel, dtype: torch.dtype) -> None:
    """Keeps the modules in fp32 that transformers always loads in fp32."""
    kept = set(getattr(model, "_keep_in_fp32_modules_strict", None) or ())
    if dtype == torch.float16:
        kept |= set(getattr(model, "_keep_in_fp32_modules", None) or ())
    if dtype == torch.float32 or not kept:
        return
    pattern = re.compile("|".join(rf"(^|\.){re.escape(name)}($|\.)" for name in sorted(kept)))
    for name, module in model.named_modules():
        if pattern.search(name):
            module.to(torch.float32)
