# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The process in which `memtrace bench` tries one allocator; the program memtrace starts it."""
