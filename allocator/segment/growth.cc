// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/growth.h"

#include <algorithm>

namespace memtrace {

Growth Growth::InChunks(uint32_t granules, Bytes granularity) const {
  Growth wider{hole, hole->address, RoundUp(size, granules * granularity), granules};
  if (address > hole->address && address + size < hole->end()) {
    wider.address = address;
    wider.size = std::min(wider.size, hole->end() - address);
    return wider;
  }
  wider.size = std::min(wider.size, hole->size);
  const bool is_at_bottom = address == hole->address;
  if (!is_at_bottom) wider.address = hole->end() - wider.size;
  return wider;
}

}  // namespace memtrace
