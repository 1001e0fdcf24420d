// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/pickle_containers.h"

namespace memtrace::interchange {

PickleValue PickleContainers::New(PickleValue::Kind kind) {
  bytes_ += sizeof(Chain);
  chains_.push_back({});
  return {kind, chains_.size() - 1};
}

void PickleContainers::Append(PickleValue container, const PickleValue* items, size_t count) {
  if (count == 0) return;
  Chain& to = chains_[container.payload()];
  const auto more = static_cast<uint32_t>(count);
  to.items += more;
  bytes_ += count * sizeof(PickleValue);
  const auto begin = static_cast<uint32_t>(items_.size());
  items_.Append(items, count);
  // Values that come one by one are still one run as long as nothing else comes between.
  if (to.last != 0 && runs_[to.last - 1].begin + runs_[to.last - 1].count == begin) {
    runs_[to.last - 1].count += more;
    return;
  }
  bytes_ += sizeof(Run);
  runs_.push_back({.begin = begin, .count = more});
  const auto place = static_cast<uint32_t>(runs_.size());
  if (to.last != 0) runs_[to.last - 1].next = place;
  to.last = place;
  if (to.first == 0) to.first = to.last;
}

}  // namespace memtrace::interchange
