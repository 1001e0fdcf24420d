# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""An object of JSON, as reports, statistics and snapshots are."""

from typing import Any

# The values are of any depth: docs/report.md, and the test that reads one, say what there is.
JsonObject = dict[str, Any]
