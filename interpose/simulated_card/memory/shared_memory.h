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
  std::uint64_t inode = 0;       // of that file: numbers of processes are given again
  std::uint64_t offset = 0;      // into it
  std::uint64_t bytes = 0;
  std::uint32_t card = 0;   // as the ledger counts cards
  std::uint32_t block = 0;  // where in the memory the caller's block begins
};

inline constexpr std::uint64_t kSharedMemoryMagic = 0x6d656d7472616365;  // "memtrace"

// An open file, closed with its last owner.
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

// The file that has the contents; null if its process has ended or cannot be asked.
OpenFilePointer OpenContents(const SharedMemoryRecord& record);

// A descriptor to hand to other processes, which stands for the memory of the record. It is an open
// file whose position is that of the record in it, so that all its duplicates, and no other open
// file, stand for this memory. -1 if the host has none.
int MakeShareableDescriptor(const SharedMemoryRecord& record);
// Writes the record into a file that is open already, and goes there.
bool PlaceRecord(int descriptor, std::uint64_t at, const SharedMemoryRecord& record);
// What such a descriptor of any process stands for; none if it is no such descriptor.
std::optional<SharedMemoryRecord> ReadRecord(int descriptor);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_SHARED_MEMORY_H_
