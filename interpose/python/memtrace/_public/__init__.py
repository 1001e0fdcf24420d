# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `import memtrace` that have no folder of their own."""
