// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_ENTRY_FACTS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_ENTRY_FACTS_H_

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/util/ApproximateClock.h>

#include <cstddef>
#include <memory>
#include <string>

#include "interpose/torch/mempool_id.h"

namespace memtrace::shim {

// Facts that an entry of torch's history may have; older torches keep fewer.
struct EntryFacts {
  c10::DeviceIndex device = 0;
  std::size_t address = 0;
  std::size_t bytes = 0;
  void* stream = nullptr;
  MempoolId_t pool;
  c10::approx_time_t time{};
  std::shared_ptr<c10::GatheredContext> context;
  std::string compile_context;
  std::string user_metadata;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_ENTRY_FACTS_H_
