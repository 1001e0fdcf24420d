// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/pickle_writer.h"

#include <limits>

#include "tools/interchange/writers/rows/event_detail.h"

namespace memtrace::interchange {
namespace {

// MemoryViz.js spreads a batch into the arguments of one call, whose number V8 limits.
constexpr uint32_t kBatch = 1000;
constexpr size_t kRoom = 1 << 16;

}  // namespace

PickleWriter::PickleWriter(ByteSink& sink) : sink_(sink) {
  Instruct(PickleOpcode::kProto);
  Byte(2);
}

void PickleWriter::Byte(uint8_t byte) {
  room_ += static_cast<char>(byte);
  if (room_.size() < kRoom) return;
  sink_.Write(room_);
  room_.clear();
}

void PickleWriter::Instruct(PickleOpcode opcode) { Byte(static_cast<uint8_t>(opcode)); }

void PickleWriter::LittleEndian(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) Byte(static_cast<uint8_t>(value >> (8 * i)));
}

void PickleWriter::Unsigned(uint64_t value) {
  if (value <= 0xff) {
    Instruct(PickleOpcode::kBinInt1);
    LittleEndian(value, 1);
  } else if (value <= 0xffff) {
    Instruct(PickleOpcode::kBinInt2);
    LittleEndian(value, 2);
  } else if (value <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    Instruct(PickleOpcode::kBinInt);
    LittleEndian(value, 4);
  } else {
    // Two's complement of as many bytes as it needs, the sign included.
    int bytes = 4;
    while (bytes < 8 && (value >> (8 * bytes - 1)) != 0) ++bytes;
    const bool ninth = bytes == 8 && (value >> 63) != 0;
    Instruct(PickleOpcode::kLong1);
    Byte(static_cast<uint8_t>(ninth ? 9 : bytes));
    LittleEndian(value, bytes);
    if (ninth) Byte(0);
  }
}

void PickleWriter::Integer(int64_t value) {
  if (value >= 0) {
    Unsigned(static_cast<uint64_t>(value));
  } else {
    Instruct(PickleOpcode::kLong1);
    Byte(8);
    LittleEndian(static_cast<uint64_t>(value), 8);
  }
}

void PickleWriter::Boolean(bool value) {
  Instruct(value ? PickleOpcode::kNewTrue : PickleOpcode::kNewFalse);
}

void PickleWriter::Text(std::string_view text) {
  const auto [entry, is_new] = texts_.try_emplace(std::string(text), next_memo_);
  if (!is_new) {
    Recall(entry->second);
    return;
  }
  const std::string valid = ValidUtf8(text);
  Instruct(PickleOpcode::kBinUnicode);
  LittleEndian(valid.size(), 4);
  for (const char c : valid) Byte(static_cast<uint8_t>(c));
  Remember();
}

void PickleWriter::Pair(uint64_t first, uint64_t second) {
  Unsigned(first);
  Unsigned(second);
  Instruct(PickleOpcode::kTuple2);
}

void PickleWriter::BeginDict() {
  Instruct(PickleOpcode::kEmptyDict);
  Instruct(PickleOpcode::kMark);
}

void PickleWriter::EndDict() { Instruct(PickleOpcode::kSetItems); }

void PickleWriter::BeginList() {
  Instruct(PickleOpcode::kEmptyList);
  Instruct(PickleOpcode::kMark);
  items_.push_back(0);
}

void PickleWriter::Item() {
  if (++items_.back() <= kBatch) return;
  Instruct(PickleOpcode::kAppends);
  Instruct(PickleOpcode::kMark);
  items_.back() = 1;
}

void PickleWriter::EndList() {
  Instruct(PickleOpcode::kAppends);
  items_.pop_back();
}

PickleWriter::MemoId PickleWriter::Remember() {
  const MemoId id = next_memo_++;
  Instruct(id <= 0xff ? PickleOpcode::kBinPut : PickleOpcode::kLongBinPut);
  LittleEndian(id, id <= 0xff ? 1 : 4);
  return id;
}

void PickleWriter::Recall(MemoId id) {
  Instruct(id <= 0xff ? PickleOpcode::kBinGet : PickleOpcode::kLongBinGet);
  LittleEndian(id, id <= 0xff ? 1 : 4);
}

void PickleWriter::Finish() {
  Instruct(PickleOpcode::kStop);
  sink_.Write(room_);
  room_.clear();
}

}  // namespace memtrace::interchange
