// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BY_CARD_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BY_CARD_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/base/attributes.h"

namespace memtrace::analysis {

// Holds what a reader of events keeps of each card. Nearly every event is of the same card as the
// one before it, which is found without a search.
//
// Thread rule: one thread at a time. Values stay where they are.
template <typename Value>
class ByCard {
 public:
  ByCard() = default;
  ByCard(const ByCard& other) : values_(other.values_) {}
  ByCard(ByCard&& other) noexcept : values_(std::exchange(other.values_, {})) {
    other.latest_ = nullptr;
  }
  ByCard& operator=(ByCard other) noexcept {
    values_.swap(other.values_);
    latest_ = nullptr;
    return *this;
  }
  ~ByCard() = default;

  // Returns the value of the card; a new one if it has none.
  Value& operator[](int32_t device) {
    if (latest_ != nullptr && device == latest_device_) return *latest_;
    return Turn(device);
  }

  // The values by card, in order.
  const std::map<int32_t, Value>& values() const { return values_; }
  std::map<int32_t, Value>& values() { return values_; }

 private:
  ABSL_ATTRIBUTE_NOINLINE Value& Turn(int32_t device) {
    latest_ = &values_[device];
    latest_device_ = device;
    return *latest_;
  }

  std::map<int32_t, Value> values_;
  Value* latest_ = nullptr;  // of values_, which never moves them
  int32_t latest_device_ = 0;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_BY_CARD_H_
