# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trainings without a script: from a config (docs/design/estimate.md), or from objects of a running process."""
