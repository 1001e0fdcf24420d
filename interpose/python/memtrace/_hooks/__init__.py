# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks into torch and other libraries that tell the recorder what memory is for."""
