# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of many traces, for `memtrace fleet` (docs/fleets.md). Only this package uses DuckDB."""
