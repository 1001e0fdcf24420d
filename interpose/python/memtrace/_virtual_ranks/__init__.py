# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Virtual ranks: a job of many ranks, of which `memtrace run --ranks` starts a few (docs/design/virtual-ranks.md)."""

from memtrace._virtual_ranks.start import watch

__all__ = ["watch"]
