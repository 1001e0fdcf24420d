// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_LAUNCH_PROCESSES_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_LAUNCH_PROCESSES_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace memtrace {

// Another process of the launch that this one belongs to, and what it holds on a card.
struct LaunchProcess {
  pid_t pid = 0;
  uint64_t bytes = 0;
};

// What another process is to this one: "data_worker" (one of torch's DataLoader), "worker" (another
// descendant), "parent" (an ancestor), "rank 3" (by its environment), else "process".
std::string RelationTo(pid_t pid);

// "4711 545259520 data_worker;4712 ..." by descending bytes; empty of none (format.md,
// "card.processes"). What one is to this process is found out once.
std::string LaunchProcessesText(std::vector<LaunchProcess> processes);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_LAUNCH_PROCESSES_H_
