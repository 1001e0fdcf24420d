// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_BACKING_FILE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_BACKING_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/shared_memory.h"

namespace memtrace::card {

// A piece of the backing file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// The contents of all device memory: one sparse anonymous file, read and written by offset.
//
// It is a file because nothing of it is mapped into the process: a card of 640 GiB in scattered
// chunks costs no host mapping (the default limit is 65,530), two device addresses of one handle
// alias by sharing an offset, contents survive an unmap, and a byte that was never written reads as
// zero without costing a page. Extents are handed out once and never again (the file may reach 2^63
// bytes), so a stale reader can never see another owner's bytes.
//
// Safe from any thread; concurrent writes to one range race as they would on a card.
class BackingFile {
 public:
  BackingFile();
  ~BackingFile();
  BackingFile(const BackingFile&) = delete;
  BackingFile& operator=(const BackingFile&) = delete;

  // Returns the offset of a fresh range of zeros. Costs nothing.
  std::uint64_t Extend(std::uint64_t bytes);

  // In a forked child: separates the child's and the parent's further writes. False if the host
  // cannot hold a copy. REQUIRES: no other thread uses this.
  bool MakePrivate();

  // Makes this file reachable for other processes, including all that they write; fills in the
  // place of `offset` in it. False if the host cannot hold contents.
  bool Share(std::uint64_t offset, SharedMemoryRecord* record);
  // Gives memory of another process an offset of this file, until Detach. Returns nothing if its
  // contents cannot be reached.
  std::optional<std::uint64_t> Attach(const SharedMemoryRecord& record);
  // REQUIRES: Attach returned the offset.
  void Detach(std::uint64_t offset);

  // These return false if the host cannot hold the contents (no memfd, RLIMIT_FSIZE, no memory);
  // the range is then partly unwritten.
  bool Read(std::uint64_t offset, std::span<std::byte> to) const;
  bool Write(std::uint64_t offset, std::span<const std::byte> from);
  // Repeats pattern over the range. REQUIRES: range.bytes is a multiple of pattern.size().
  bool Fill(const Extent& range, std::span<const std::byte> pattern);
  // Unwritten parts of the source become unwritten in the target and cost nothing.
  bool CopyWithin(std::uint64_t from, std::uint64_t to, std::uint64_t bytes);
  // Makes the range zero and gives its pages back to the host.
  bool Clear(const Extent& range);

 private:
  // The real place of an offset.
  struct Place {
    int file = -1;
    std::uint64_t offset = 0;
    bool written = false;   // something may have been written to it
    OpenFilePointer other;  // keeps another process's file open
  };
  struct Attached {
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  // in `file`
    OpenFilePointer file;
  };

  int Descriptor() const;
  Place Locate(std::uint64_t offset) const;
  OpenFilePointer FileOf(const SharedMemoryRecord& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool WriteAll(std::uint64_t offset, std::span<const std::byte> from);
  static bool CopyWrittenParts(int from, int to);
  bool CopyWritten(std::uint64_t from, std::uint64_t to, std::uint64_t bytes);

  mutable std::once_flag opened_;
  mutable int descriptor_ = -1;
  mutable int open_error_ = 0;         // errno if opening failed
  std::atomic<bool> written_ = false;  // false: all is zero and there is no file
  mutable Mutex mutex_;
  std::uint64_t end_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Attached> attached_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t attached_end_ ABSL_GUARDED_BY(mutex_);
  // Other processes' files, by inode.
  std::map<std::uint64_t, std::weak_ptr<const OpenFile>> others_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_BACKING_FILE_H_
