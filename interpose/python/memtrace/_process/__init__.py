# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""memtrace in one process that uses torch: the session, and what its tensors are."""
