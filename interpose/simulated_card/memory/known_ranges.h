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

// What is known of a byte of device memory. Ordered: the weakest of several bytes is their minimum.
enum class Known {
  kUnknown = 0,  // never written, or a kernel that did not run may have written it
  kAssumed = 1,  // follows from an answer that somebody made up, and said so; or shared
  kKnown = 2,    // as on a GPU: written by the host, or computed from such bytes
};

// Which bytes of the backing file are known. By place in the file and not by device address: two
// mappings of a handle then agree, and a place is handed out only once, so that unmapping needs no
// word. A caching allocator hands memory out again without the driver's hearing of it: whoever
// knows of that (interpose/torch) says Forget.
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
  // What was unknown of the bytes is assumed.
  void Assume(std::span<const Extent> extents);

  bool IsEmpty() const { return empty_; }

  // The weakest of the bytes; kKnown for none.
  Known Weakest(std::span<const Extent> extents) const;
  // Of each byte, in order. REQUIRES: states has as many elements as the extents have bytes.
  void Read(std::span<const Extent> extents, std::span<char> states) const;

  // Both sides cover the same number of bytes, cut at different places: what is known of the target
  // becomes what is known of the source.
  void Copy(std::span<const Extent> to, std::span<const Extent> from);

 private:
  struct Range {
    std::uint64_t end = 0;
    Known known = Known::kKnown;  // never kUnknown
  };
  using Ranges = std::map<std::uint64_t, Range>;  // by begin; they do not touch unless they differ

  void AssumeLocked(std::uint64_t begin, std::uint64_t end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetLocked(std::uint64_t begin, std::uint64_t end, Known known)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Known WeakestLocked(std::uint64_t begin, std::uint64_t end) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CopyLocked(std::uint64_t to, std::uint64_t from, std::uint64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cut(std::uint64_t at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Ranges ranges_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> empty_ = true;  // written under mutex_: most launches find nothing to forget
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_KNOWN_RANGES_H_
