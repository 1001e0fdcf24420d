// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_COPIES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_COPIES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/memory/backing_file.h"
#include "interpose/simulated_card/memory/known_ranges.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// The amount of data that really moved. All are counts of calls, except bytes_dropped.
struct CopyCounts {
  std::uint64_t executed = 0;
  std::uint64_t dropped = 0;  // too large, or the host could not hold them
  std::uint64_t bytes_dropped = 0;
  std::uint64_t device_to_host =
      0;                         // the host read values that a kernel may have been meant to write
  std::uint64_t host_bytes = 0;  // between the host and a card, dropped or not
  std::uint64_t bus_bytes = 0;   // of these and of fills, by the bus that joins host and cards
  std::uint64_t faults = 0;      // touched an unmapped, freed or inaccessible device range
};

// Copies and fills, carried out at once. Addresses in AddressRanges are the card's, all others the
// host's. A copy above the limit is dropped: a footprint is exact without a whole model's weights
// in host memory. Setting to zero is never dropped: it gives host memory back.
//
// Safe from any thread.
class Copies {
 public:
  // All arguments must outlive this. limit is in bytes a copy. known may be null: nothing reads it
  // then.
  Copies(const AddressSpace& space, BackingFile& file, std::uint64_t limit,
         KnownRanges* known = nullptr)
      : space_(space), file_(file), known_(known), limit_(limit) {}
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  Result Copy(Address to, Address from, std::uint64_t bytes);
  // Succeeds if Copy would find both sides; otherwise the call is counted as a fault.
  Result Check(Address to, Address from, std::uint64_t bytes);
  // Repeats pattern (1, 2 or 4 bytes). REQUIRES: bytes is a multiple of pattern.size().
  Result Fill(Address to, std::uint64_t bytes, std::span<const std::byte> pattern);

  CopyCounts Counts() const;
  // Returns the number of copies to the host whose bytes were so known; 0 without KnownRanges.
  std::uint64_t Reads(Known known) const { return reads_[static_cast<std::size_t>(known)]; }

 private:
  // The place of one side of a copy. The host's has no extents.
  struct Side {
    Address begin;
    bool on_card = false;
    std::vector<Extent> extents;
    std::uint64_t on_host = 0;  // bytes at addresses of a card that the host's memory holds
  };

  Result Resolve(Address begin, std::uint64_t bytes, Access least, Side* side);
  bool Move(const Side& to, const Side& from, std::uint64_t bytes);
  bool Deliver(const Side& from, std::span<std::byte> to);
  void ZeroUnknown(const Side& from, std::span<std::byte> to) const;
  void Note(const Side& to, const Side& from, bool moved);
  bool MoveOnCard(const Side& to, const Side& from);
  bool ReadAll(const Side& from, std::span<std::byte> to) const;
  bool WriteAll(const Side& to, std::span<const std::byte> from);
  void CountBus(const Side& to, const Side& from, std::uint64_t bytes);
  void Count(bool done, std::uint64_t bytes);

  const AddressSpace& space_;
  BackingFile& file_;
  KnownRanges* const known_;  // may be null
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> executed_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<std::uint64_t> bytes_dropped_ = 0;
  std::atomic<std::uint64_t> device_to_host_ = 0;
  std::atomic<std::uint64_t> host_bytes_ = 0;
  std::atomic<std::uint64_t> bus_bytes_ = 0;
  std::atomic<std::uint64_t> faults_ = 0;
  std::array<std::atomic<std::uint64_t>, 3> reads_ = {};
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_COPIES_H_
