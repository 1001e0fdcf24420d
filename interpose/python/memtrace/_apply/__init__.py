# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program with changes that `memtrace fit` found (`memtrace run --with`)."""
