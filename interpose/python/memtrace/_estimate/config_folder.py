# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The folder that describes a model of transformers or diffusers, or a pipeline of diffusers."""

import json
from dataclasses import dataclass
from pathlib import Path

from memtrace._estimate.problem import ProblemError, first_line

_CONFIG = "config.json"
_PIPELINE = "model_index.json"
# The part of a pipeline that is trained.
_PARTS = ("transformer", "unet", "prior")


@dataclass(frozen=True)
class ConfigFolder:
    """A model's config.json, read."""

    path: Path  # of the folder
    values: dict[str, object]

    @property
    def file(self) -> Path:
        """The file's path for messages."""
        return self.path / _CONFIG

    @property
    def is_of_diffusers(self) -> bool:
        """True if it is a model of diffusers, not transformers."""
        return "_class_name" in self.values


def read(folder: Path) -> ConfigFolder:
    """Finds the model in `folder`. Raises ProblemError if there is none."""
    if not folder.is_dir():
        raise ProblemError(f"{folder} is not a folder. Give the folder with the model's {_CONFIG}.")
    if (folder / _PIPELINE).exists():
        folder = _trained_part(folder)
    if not (folder / _CONFIG).exists():
        raise ProblemError(f"{folder} has neither {_CONFIG} nor {_PIPELINE}. Give the folder with one of them.")
    return ConfigFolder(folder, _read_json(folder / _CONFIG))


def _trained_part(pipeline: Path) -> Path:
    for part in _PARTS:
        if (pipeline / part / _CONFIG).exists():
            return pipeline / part
    raise ProblemError(
        f"{pipeline}: the pipeline has none of {', '.join(_PARTS)}. Give the folder of one of its models."
    )


def _read_json(file: Path) -> dict[str, object]:
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ProblemError(f"{file} cannot be read as JSON: {first_line(error)}") from None
    if not isinstance(values, dict):
        raise ProblemError(f"{file} is not a JSON object, which a model's config must be.")
    return values
