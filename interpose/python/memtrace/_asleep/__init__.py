# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of the card that sleeps and wakes at the same addresses (docs/how-to/sleep.md)."""
