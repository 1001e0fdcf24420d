// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_KNOWN_RANGES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_KNOWN_RANGES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <span>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/address_space.h"

namespace memtrace::card {

// How well a byte of device memory is known. Ordered: the weakest of several bytes is their
// minimum.
enum class Known {
  kUnknown = 0,  // never written, or a kernel that did not run may have written it
  kAssumed = 1,  // follows from a made-up answer that is marked as such; or shared
  kKnown = 2,    // as on a GPU: written by the host, or computed from such bytes
};

// The known bytes of the backing file. They are kept by offset in the file and not by device
// address: two mappings of a handle then agree, and an offset is handed out only once, so unmapping
// needs no call. A caching allocator reuses memory without the driver's knowledge; code that knows
// of it (interpose/torch) calls Forget.
//
// Safe from any thread.
class KnownRanges {
 public:
  KnownRanges() = default;
  KnownRanges(const KnownRanges&) = delete;
  KnownRanges& operator=(const KnownRanges&) = delete;

  void Set(std::span<const Extent> extents, Known known);
  void Forget(std::span<const Extent> extents) { Set(extents, Known::kUnknown); }
  void ForgetAll();
  // Marks unknown bytes as assumed.
  void Assume(std::span<const Extent> extents);

  bool IsEmpty() const { return empty_; }

  // Returns the weakest of the bytes; kKnown if there are no bytes.
  Known Weakest(std::span<const Extent> extents) const;
  // Writes the state of each byte, in order. REQUIRES: states has as many elements as the extents
  // have bytes.
  void Read(std::span<const Extent> extents, std::span<char> states) const;

  // Copies the states of the source to the target. Both cover the same number of bytes, cut at
  // different places.
  void Copy(std::span<const Extent> to, std::span<const Extent> from);

 private:
  struct Range {
    std::uint64_t end = 0;
    Known known = Known::kKnown;  // never kUnknown
  };
  using Ranges = std::map<std::uint64_t, Range>;  // by begin; adjacent ones differ

  void AssumeLocked(std::uint64_t begin, std::uint64_t end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetLocked(std::uint64_t begin, std::uint64_t end, Known known)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Known WeakestLocked(std::uint64_t begin, std::uint64_t end) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CopyLocked(std::uint64_t to, std::uint64_t from, std::uint64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SplitAt(std::uint64_t at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Ranges ranges_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> empty_ = true;  // written under mutex_: most launches find nothing to forget
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_KNOWN_RANGES_H_
