// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_HOST_ROOM_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_HOST_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace memtrace::fit {

// Returns the bytes of host memory that this process could take now (base/host_memory.h).
uint64_t AvailableHostBytes();

// Tells whether the host has memory for one more run, from what runs took that were alone.
class HostRoom {
 public:
  using Reader = std::function<uint64_t()>;

  explicit HostRoom(Reader available = AvailableHostBytes) : available_(std::move(available)) {}

  // Notes that a run begins, and that it is still alone. What other programs take meanwhile counts
  // as taken by it.
  void Begin() { at_begin_ = available_(); }
  void Sample();

  // Notes the most that a run's processes were seen to hold, in bytes.
  void NoteHeld(uint64_t bytes);

  // True if one more run may begin beside so many: all of them may still grow to the largest run
  // seen, and as much stays free. False before any was seen.
  bool HasRoomBeside(size_t runs) const;

 private:
  Reader available_;
  uint64_t at_begin_ = 0;
  uint64_t largest_ = 0;  // bytes that a run took
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_HOST_ROOM_H_
