// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_14_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_14_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <string>

#include "interpose/torch/allocation_history.h"

namespace memtrace::shim {

// Implements the additions of torch 2.14 to the allocator's interface.
template <typename Base>
class Since2_14 : public Base {
 public:
  bool supportsUserMetadata() override { return true; }

  void annotateMemory(const void* address, const std::string& metadata) override {
    AllocationHistory& history = AllocationHistory::Get();
    if (address == nullptr || !history.is_recording()) return;
    const std::string before = AllocationHistory::UserMetadata();
    AllocationHistory::SetUserMetadata(metadata);
    const AllocationHistory::Caller caller(AllocationHistory::Level::ALLOC);
    history.Note(AllocationHistory::Entry::ANNOTATE, this->CardOf(address),
                 reinterpret_cast<size_t>(address), 0, nullptr, {0, 0});
    AllocationHistory::SetUserMetadata(before);
  }
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_ADAPTORS_SINCE_2_14_H_
