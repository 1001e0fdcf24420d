# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Start-up before torch is imported: the switch, the card, the driver, the wait for torch's import, host values."""
