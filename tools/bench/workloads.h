// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_WORKLOADS_H_
#define MEMTRACE_TOOLS_BENCH_WORKLOADS_H_

#include <string_view>
#include <vector>

#include "interpose/bench/request_sequence.h"

namespace memtrace::bench {

// A sequence of requests that is computed; equal names give equal requests on every machine.
struct Workload {
  std::string_view name;         // "hot-512"
  std::string_view description;  // a sentence
  RequestSequence (*make)();
};

const std::vector<Workload>& Workloads();

// Returns null if there is none of that name.
const Workload* FindWorkload(std::string_view name);

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_WORKLOADS_H_
