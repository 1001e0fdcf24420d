# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Python's access to the C++ core: its functions, its words, and the files of the package."""
