// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/movable_owners.h"

#include <algorithm>

namespace memtrace {

size_t MovableOwners::shared(MovableOwner owner) const {
  return static_cast<size_t>(std::count_if(
      shared_.begin(), shared_.end(), [&](const auto& entry) { return entry.second == owner; }));
}

}  // namespace memtrace
