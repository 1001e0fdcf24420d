// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PICKLE_WRITER_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PICKLE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/interchange/pickle_opcodes.h"
#include "tools/interchange/writers/rows/byte_sink.h"

namespace memtrace::interchange {

// Writes a pickle of plain data, protocol 2, front to back: only what torch's MemoryViz.js
// understands, and no list item is appended with more than 999 others (docs/reference/export.md,
// "snapshot").
//
//   BeginDict; Text("a"); BeginList; Item; Integer(1); EndList; EndDict      {"a": [1]}
class PickleWriter {
 public:
  using MemoId = uint32_t;

  explicit PickleWriter(ByteSink& sink);

  void Integer(int64_t value);
  void Unsigned(uint64_t value);
  void Boolean(bool value);
  void Text(std::string_view text);            // each once; bytes that are no UTF-8 become U+FFFD
  void Pair(uint64_t first, uint64_t second);  // a tuple

  void BeginDict();  // then keys and values in turn
  void EndDict();
  void BeginList();
  void Item();  // before each
  void EndList();

  // Returns an id of the value just written, by which Recall writes it again.
  MemoId Remember();
  void Recall(MemoId id);

  void Finish();

 private:
  void Instruct(PickleOpcode opcode);
  void Byte(uint8_t byte);
  void LittleEndian(uint64_t value, int bytes);

  ByteSink& sink_;
  std::string room_;
  MemoId next_memo_ = 0;
  absl::flat_hash_map<std::string, MemoId> texts_;
  std::vector<uint32_t> items_;  // of each list that is open, since its last batch
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PICKLE_WRITER_H_
