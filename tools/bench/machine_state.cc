// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/machine_state.h"

#include <sched.h>

#include <cstdlib>
#include <fstream>

namespace memtrace::bench {
namespace {

std::string ProcessorModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

unsigned UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? static_cast<unsigned>(CPU_COUNT(&cores))
                                                          : 0;
}

}  // namespace

MachineState MachineState::Now() {
  double load = 0;
  return {ProcessorModel(), UsableCores(), getloadavg(&load, 1) == 1 ? load : 0};
}

}  // namespace memtrace::bench
