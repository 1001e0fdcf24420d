// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ENABLED_IDS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ENABLED_IDS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memtrace::card {

// The enabled callback ids of a domain. Safe from any thread.
class EnabledIds {
 public:
  static constexpr std::size_t kMost = 4096;  // CUDA 13.2 numbers up to about 1,000 functions

  EnabledIds() = default;
  EnabledIds(const EnabledIds&) = delete;
  EnabledIds& operator=(const EnabledIds&) = delete;

  bool Has(std::uint32_t id) const { return id < kMost && ids_[id]; }
  void SetAll(bool enabled) {
    for (auto& id : ids_) id = enabled;
    any_ = enabled;
  }
  // Returns false for a number that is too high.
  bool Set(std::uint32_t id, bool enabled) {
    if (id >= kMost) return false;
    ids_[id] = enabled;
    if (enabled) any_ = true;
    return true;
  }
  // False only if none is enabled.
  bool MayHaveAny() const { return any_; }

 private:
  std::array<std::atomic<bool>, kMost> ids_ = {};
  std::atomic<bool> any_ = false;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_ENABLED_IDS_H_
