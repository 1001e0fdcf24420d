// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_TRACE_FILE_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_TRACE_FILE_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/writing/block_ring.h"
#include "profiler/trace/writing/block_window.h"
#include "profiler/trace/writing/front_pages.h"
#include "profiler/trace/writing/trace_descriptor.h"

namespace memtrace::trace {

enum class IfExists {
  kFail,        // kAlreadyExists
  kUseSibling,  // NAME.<pid>: for `-o NAME` with several processes, the first one gets NAME
  kReplace,     // unlinks the old file, which a process may keep writing
};

struct TraceFileOptions {
  IfExists if_exists = IfExists::kFail;
  bool map_pages = true;  // false: as without shared mappings (for tests)
  // The most bytes of the file: its oldest blocks of events are dropped. 0: no limit. At least
  // kLeastKeptBytes, otherwise kInvalidArgument.
  uint64_t keep_bytes = 0;
  bool with_summary = false;  // room for two blocks of summaries
};

// The blocks that are open at the same time. Only in a file that drops its oldest blocks are
// definitions separate from events.
enum class Chain : uint8_t { kEvents, kDefinitions };

// The file of a TraceWriter: creates it, extends it, and provides room for one block after another.
//
// Blocks are in pages of the file itself (MAP_SHARED), so that stored records survive the process
// however it is killed. Pages are allocated on disk before they are touched, 1 MiB at a time, so a
// full disk is an error from NextBlock, never SIGBUS. (Another program that truncates the file
// while it grows can still cause one; we replace files instead of truncating them.) If pages cannot
// be shared or allocated (some network file systems), blocks are in memory and Flush writes them.
class TraceFile {
 public:
  // Errors: kAlreadyExists, kPermissionDenied, kNotFound ... with the path and the system's reason.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Create(
      const std::string& path, const std::map<std::string, std::string>& info,
      const TraceFileOptions& options);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Returns kBlockBytes of room; the chain's previous block must be finished. The room holds zeros
  // or the rest of the oldest block. `first_sequence` is for blocks of events. Errors:
  // kResourceExhausted and others with the system's reason.
  absl::StatusOr<uint8_t*> NextBlock(Chain chain, uint64_t first_sequence);

  // Makes sure that bytes [begin, end) of the chain's current block are in the file.
  absl::Status Flush(Chain chain, size_t begin, size_t end);
  bool flushes() const { return !mapped_; }  // false: Flush does nothing, stores are enough

  // Returns null if the file keeps everything.
  const BlockRing* ring() const { return ring_ ? &*ring_ : nullptr; }

  // Cuts the file after `bytes` bytes of the current block of events (in a file that drops its
  // oldest blocks, after its last block) and marks it as complete.
  void Finish(size_t bytes);

  // Releases the file without changing it. For a forked child, because the file is its parent's.
  void Abandon();

  // Returns the part that other processes use while the file grows.
  FrontPages& front() { return front_; }
  const FrontPages& front() const { return front_; }
  const std::string& path() const { return descriptor_.path(); }

 private:
  TraceFile(int fd, std::string path);
  absl::Status WriteBeginning(const std::map<std::string, std::string>& info,
                              const TraceFileOptions& options);
  absl::Status GrowWindow();
  absl::StatusOr<uint8_t*> NextKeptBlock(Chain chain, uint64_t first_sequence);
  absl::Status Allocate(uint64_t bytes);
  absl::StatusOr<uint8_t*> MapKept(Chain chain, uint64_t offset);
  absl::StatusOr<uint8_t*> Buffer(Chain chain);

  TraceDescriptor descriptor_;
  FrontPages front_;
  bool mapped_ = true;
  uint64_t end_ = 0;    // where the next block begins
  BlockWindow window_;  // mapped, in a file without a ring

  // A chain's current block.
  struct Current {
    uint64_t offset = 0;
    uint8_t* kept = nullptr;            // mapped, in a file with a ring
    std::unique_ptr<uint8_t[]> buffer;  // not mapped
  };
  std::array<Current, 2> current_;
  std::optional<BlockRing> ring_;
  uint64_t allocated_ = 0;  // bytes allocated on disk, in a file with a ring
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_TRACE_FILE_H_
