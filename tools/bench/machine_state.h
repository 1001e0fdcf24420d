// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_MACHINE_STATE_H_
#define MEMTRACE_TOOLS_BENCH_MACHINE_STATE_H_

#include <string>

namespace memtrace::bench {

// The machine on which times were measured, at one moment.
struct MachineState {
  std::string processor;  // its model; empty: the system does not say
  unsigned cores = 0;     // that this process may use
  double load = 0;        // processes that want to run, the mean of the last minute

  static MachineState Now();
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_MACHINE_STATE_H_
