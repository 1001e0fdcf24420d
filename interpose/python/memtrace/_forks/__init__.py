# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of `memtrace fit` that are forked from a process which has imported the program's libraries.

docs/design/whole-job.md, "Forked trials", has the rules.
"""
