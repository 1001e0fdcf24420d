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

// Returns how another process is related to this one: "data_worker" (one of torch's DataLoader),
// "worker" (another descendant), "parent" (an ancestor), "rank 3" (by its environment), else
// "process".
std::string RelationTo(pid_t pid);

// Returns "4711 545259520 data_worker;4712 ..." by descending bytes; empty if there is none
// (format.md, "card.processes"). The relation of each process is looked up once.
std::string LaunchProcessesText(std::vector<LaunchProcess> processes);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_LAUNCH_PROCESSES_H_
