// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/host_room.h"

#include <algorithm>

#include "base/host_memory.h"

namespace memtrace::fit {

uint64_t AvailableHostBytes() { return ReadHostMemory().available; }

void HostRoom::Sample() {
  const uint64_t now = available_();
  if (now < at_begin_) NoteHeld(at_begin_ - now);
}

void HostRoom::NoteHeld(uint64_t bytes) { largest_ = std::max(largest_, bytes); }

bool HostRoom::HasRoomBeside(size_t runs) const {
  return largest_ > 0 && available_() / largest_ >= runs + 2;
}

}  // namespace memtrace::fit
