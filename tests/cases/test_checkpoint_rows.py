# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
import checkpoint_rows
from judging import judged

test_what_memtrace_says_is_right = judged(checkpoint_rows.ROWS)
