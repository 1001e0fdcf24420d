# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at an out-of-memory for memory that the program holds but no longer needs."""
