// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_PROFILER_TRACE_FILE_BLOCKS_H_
#define MEMTRACE_TESTS_PROFILER_TRACE_FILE_BLOCKS_H_

#include <cstring>
#include <string>
#include <vector>

#include "profiler/trace/coding/format.h"
#include "profiler/trace/coding/record_decoder.h"
#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {

// A block as stored in a file, read without TraceReader.
struct FileBlock {
  BlockHeader header;
  std::string records;  // the committed ones

  // Returns the kinds of its records, in order.
  std::vector<int> Kinds() const {
    std::vector<int> kinds;
    ForEachRecord([&](const RawRecord& record) { kinds.push_back(static_cast<int>(record.kind)); });
    return kinds;
  }
  template <typename Visit>
  void ForEachRecord(Visit visit) const {
    const auto* at = reinterpret_cast<const uint8_t*>(records.data());
    const uint8_t* end = at + records.size();
    for (auto record = NextRecord(at, end); record; record = NextRecord(record->end, end)) {
      visit(*record);
    }
  }
};

inline FileHeader FirstPageOf(const std::string& path) {
  FileHeader header;
  std::memcpy(&header, ReadBytes(path).data(), sizeof(header));
  return header;
}

// Returns the blocks that were begun, in file order, without the first one, which describes the
// process.
inline std::vector<FileBlock> BlocksOf(const std::string& path) {
  const std::string bytes = ReadBytes(path);
  std::vector<FileBlock> blocks;
  for (size_t at = 2 * kPageBytes; at + sizeof(BlockHeader) <= bytes.size(); at += kBlockBytes) {
    FileBlock block;
    std::memcpy(&block.header, bytes.data() + at, sizeof(BlockHeader));
    if (block.header.capacity == 0) break;
    block.records = bytes.substr(at + sizeof(BlockHeader), block.header.committed);
    blocks.push_back(block);
  }
  return blocks;
}

}  // namespace memtrace::trace

#endif  // MEMTRACE_TESTS_PROFILER_TRACE_FILE_BLOCKS_H_
