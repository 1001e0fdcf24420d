# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A JSON object, such as a report, statistics or a snapshot."""

from typing import Any

# The values have any depth; docs/reference/report.md and the test that reads one describe them.
JsonObject = dict[str, Any]
