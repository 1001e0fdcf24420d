// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/card_of_address.h"

#include <algorithm>

namespace memtrace {

void CardOfAddress::Add(DeviceAddress address, Bytes size, int device) {
  const SpinMutexLock lock(mutex_);
  const Range added{AddressRange::Of(address, size), device};
  std::erase_if(ranges_,
                [&](const Range& range) { return range.addresses.Overlaps(added.addresses); });
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), added,
      [](const Range& a, const Range& b) { return a.addresses.begin < b.addresses.begin; });
  ranges_.insert(after, added);
}

int CardOfAddress::Find(DeviceAddress address) const {
  const SpinMutexLock lock(mutex_);
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](DeviceAddress wanted, const Range& range) { return wanted < range.addresses.begin; });
  if (after == ranges_.begin()) return -1;
  const Range& range = *(after - 1);
  return address < range.addresses.end ? range.device : -1;
}

}  // namespace memtrace
