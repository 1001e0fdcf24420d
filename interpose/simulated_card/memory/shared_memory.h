// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_SHARED_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_SHARED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace memtrace::card {

// Device memory of one process as another finds it. Plain data: it crosses process borders as the
// bytes of a CUipcMemHandle, or in the file behind an exported descriptor.
struct SharedMemoryRecord {
  std::uint64_t magic = 0;
  std::int32_t process = 0;
  std::int32_t descriptor = -1;  // of the process's backing file
  std::uint64_t inode = 0;       // that file's, because process numbers are reused
  std::uint64_t offset = 0;      // into it
  std::uint64_t bytes = 0;
  std::uint32_t card = 0;   // the card's number in the ledger
  std::uint32_t block = 0;  // offset of the caller's block in the memory
};

inline constexpr std::uint64_t kSharedMemoryMagic = 0x6d656d7472616365;  // "memtrace"

// An open file, closed when its last owner goes.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};
using OpenFilePointer = std::shared_ptr<const OpenFile>;

// Returns the file that has the contents; null if its process has ended or cannot be accessed.
OpenFilePointer OpenContents(const SharedMemoryRecord& record);

// Returns a descriptor to pass to other processes, which stands for the record's memory. It is an
// open file positioned at the record in it, so that all its duplicates, and no other open file,
// stand for this memory. -1 if the host has no descriptor left.
int MakeShareableDescriptor(const SharedMemoryRecord& record);
// Writes the record into a file that is already open, and positions the file at it.
bool PlaceRecord(int descriptor, std::uint64_t at, const SharedMemoryRecord& record);
// Returns the record of such a descriptor of any process; nothing if it is another descriptor.
std::optional<SharedMemoryRecord> ReadRecord(int descriptor);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_SHARED_MEMORY_H_
