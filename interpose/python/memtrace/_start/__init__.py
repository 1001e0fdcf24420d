# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Before torch is there: the card, the driver, the import of torch that is waited for, values of the host."""
