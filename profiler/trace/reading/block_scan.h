// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_BLOCK_SCAN_H_
#define MEMTRACE_PROFILER_TRACE_READING_BLOCK_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/trace/coding/format.h"

namespace memtrace::trace {

// A readable block: its checksum is correct, or it was still open.
struct Block {
  BlockHeader header;
  const uint8_t* records = nullptr;
  const uint8_t* end = nullptr;  // end of the committed records, or of the file
  bool is_cut = false;           // the file ends before the records do
};

struct BlockScan {
  std::vector<Block> blocks;  // in file order
  uint64_t damaged_blocks = 0;
  uint64_t truncated_bytes = 0;  // of an incomplete block header at the end
  uint64_t first_bad_offset = 0;
  std::vector<uint64_t> bad_offsets;  // offsets of the damaged blocks
  uint64_t damaged_bytes = 0;         // sum of the damaged blocks
  size_t used_bytes = 0;              // up to the end of the last block, damaged or not
};

// Finds the blocks of a file; after damage it continues with the next one. Space that was allocated
// ahead and never used (zeros) is not damage.
BlockScan ScanBlocks(const uint8_t* data, size_t size);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_BLOCK_SCAN_H_
