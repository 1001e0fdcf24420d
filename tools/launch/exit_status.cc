// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/exit_status.h"

#include <sys/wait.h>

namespace memtrace::launch {

ExitStatus ExitStatusOf(int wait_status) {
  ExitStatus end;
  end.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
  end.code = end.signal == 0 ? WEXITSTATUS(wait_status) : 128 + end.signal;
  return end;
}

}  // namespace memtrace::launch
