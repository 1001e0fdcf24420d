// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_FORMAT_H_
#define MEMTRACE_PROFILER_TRACE_FORMAT_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// The layout that format.md describes, for those who write and read it. Private to this folder.

namespace memtrace::trace {

static_assert(std::endian::native == std::endian::little,
              "fields are stored as they lie in memory");

inline constexpr std::array<char, 8> kFileMagic = {'m', 'e', 'm', 't', 'r', 'a', 'c', 'e'};
// 1 was never released: it had no kFreed and wrote more numbers of each event.
inline constexpr uint32_t kFormatVersion = 2;
inline constexpr uint32_t kOldestVersion = 2;

// The first page of the file. The fields after `version` change in place while the file grows; the
// page is allocated from the start, so a full disk can still be noted in it.
struct FileHeader {
  std::array<char, 8> magic = kFileMagic;
  uint32_t version = kFormatVersion;
  uint32_t unused = 0;
  uint64_t closed_bytes = 0;  // size of the file as its process left it; 0 while it is open
  uint64_t lost_events = 0;
  std::array<char, 224> lost_reason{};  // why recording stopped; ends in a zero
};
static_assert(sizeof(FileHeader) == 256);

inline constexpr size_t kPageBytes = 4096;       // the header's, and where blocks may begin
inline constexpr size_t kBlockBytes = 64 << 10;  // small enough to lose, large enough to amortise

inline constexpr uint32_t kBlockMagic = 0xb10c7ace;
enum class BlockKind : uint16_t { kInfo = 1, kEvents = 2 };

// `checksum` stands before `committed`: a reader that copies upwards while the block is being
// closed sees a checksum only together with the final length.
struct BlockHeader {
  uint32_t magic = kBlockMagic;
  BlockKind kind = BlockKind::kEvents;
  uint16_t queue = 0;
  uint64_t first_sequence = 0;  // no event of the block has a smaller one
  uint64_t checksum = 0;   // XXH3-64 of this header (with 0 here) and the records; 0 while open
  uint32_t capacity = 0;   // from this header to the next
  uint32_t committed = 0;  // bytes of whole records
};
static_assert(sizeof(BlockHeader) == 32);

// Definitions come before their first use; events are kFirstEvent + their place in Payload.
enum class RecordKind : uint8_t {
  kNone = 0,  // never written: a zero byte is space that nobody used
  kString = 1,
  kFrame = 2,
  kStack = 3,
  kInfo = 4,
  kFreed = 5,  // two events in one record
  kFirstEvent = 16,
};

// Longer strings are cut: a record must fit in a block.
inline constexpr size_t kMaxStringBytes = 16 << 10;
// More cards than this are left out of one out_of_memory event, for the same reason.
inline constexpr size_t kMaxCards = 256;

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_FORMAT_H_
