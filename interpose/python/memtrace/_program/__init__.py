# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which code is the user's own: the script, its modules, its frames."""
