// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_CODING_FORMAT_H_
#define MEMTRACE_PROFILER_TRACE_CODING_FORMAT_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

// The layout that format.md describes, for its writers and readers. Private to this folder.

namespace memtrace::trace {

static_assert(std::endian::native == std::endian::little,
              "fields are stored as they lie in memory");

inline constexpr std::array<char, 8> kFileMagic = {'m', 'e', 'm', 't', 'r', 'a', 'c', 'e'};
// Versions 1 and 2 were never released: they wrote more numbers for each event.
inline constexpr uint32_t kFormatVersion = 3;
inline constexpr uint32_t kOldestVersion = 3;

// The first page of the file. The fields after `version` change in place while the file grows; the
// page is allocated from the start, so even a full disk can be noted in it.
struct FileHeader {
  std::array<char, 8> magic = kFileMagic;
  uint32_t version = kFormatVersion;
  uint32_t unused = 0;
  uint64_t closed_bytes = 0;  // final size of the file; 0 while it is open
  uint64_t lost_events = 0;
  std::array<char, 224> lost_reason{};  // why recording stopped; zero-terminated
  uint64_t keep_bytes = 0;  // limit of the file's size; the oldest blocks are dropped; 0: no limit
  uint64_t newest_sequence = 0;  // in such a file: first_sequence of the newest block of events
  uint64_t summary_offset = 0;   // of two blocks of kSummaryBytes each; 0 if there are none
  uint64_t marks_wanted = 0;     // incremented to request a mark (memtrace snapshot)
  uint64_t marks_made = 0;       // set by the recorder to the number of marks made
};
static_assert(sizeof(FileHeader) == 296);

inline constexpr size_t kPageBytes = 4096;  // size of the header; blocks begin at multiples of it
inline constexpr size_t kBlockBytes = 64 << 10;  // small enough to lose, large enough to amortise

inline constexpr uint32_t kBlockMagic = 0xb10c7ace;
enum class BlockKind : uint16_t { kInfo = 1, kEvents = 2, kDefinitions = 3, kSummary = 4 };
inline constexpr size_t kSummaryBytes = 16 << 10;  // of a summary's block, including its header
// The least size of a file that drops its oldest blocks: it has room for at least two live sets of
// a training run with some 10,000 live blocks.
inline constexpr uint64_t kLeastKeptBytes = 4 << 20;

// `checksum` comes before `committed`: a reader that copies upwards while the block is being closed
// sees a checksum only together with the final length.
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

// Definitions come before their first use; events are kFirstEvent + their index in Payload.
enum class RecordKind : uint8_t {
  kNone = 0,  // never written: a zero byte is unused space
  kString = 1,
  kFrame = 2,
  kStack = 3,
  kInfo = 4,
  kFreed = 5,  // two events in one record
  kCheckpoint = 6,
  kFirstEvent = 16,
  kFirstRestated = 64,  // still true, repeated for a reader that begins here
};

// Longer strings are cut: a record must fit in a block.
inline constexpr size_t kMaxStringBytes = 16 << 10;
// The most cards in one out_of_memory event, for the same reason; the others are left out.
inline constexpr size_t kMaxCards = 256;

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_CODING_FORMAT_H_
