# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trainings that nobody wrote a script for: from a config (docs/estimate.md), and from objects of a running process."""
