# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""How memtrace's code runs inside functions of torch and other libraries, without harm to the program."""
