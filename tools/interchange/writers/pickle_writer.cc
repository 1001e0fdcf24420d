// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/pickle_writer.h"

#include <limits>

#include "tools/interchange/writers/event_detail.h"

namespace memtrace::interchange {
namespace {

// CPython, Lib/pickle.py.
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProto = 0x80,
  kTuple2 = 0x86,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a
};

// MemoryViz.js spreads a batch into the arguments of one call, which V8 has an end of.
constexpr uint32_t kBatch = 1000;
constexpr size_t kRoom = 1 << 16;

}  // namespace

PickleWriter::PickleWriter(ByteSink& sink) : sink_(sink) {
  Byte(kProto);
  Byte(2);
}

void PickleWriter::Byte(uint8_t byte) {
  room_ += static_cast<char>(byte);
  if (room_.size() < kRoom) return;
  sink_.Write(room_);
  room_.clear();
}

void PickleWriter::LittleEndian(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) Byte(static_cast<uint8_t>(value >> (8 * i)));
}

void PickleWriter::Unsigned(uint64_t value) {
  if (value <= 0xff) {
    Byte(kBinInt1);
    LittleEndian(value, 1);
  } else if (value <= 0xffff) {
    Byte(kBinInt2);
    LittleEndian(value, 2);
  } else if (value <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    Byte(kBinInt);
    LittleEndian(value, 4);
  } else {
    // Two's complement of as many bytes as it needs, the sign included.
    int bytes = 4;
    while (bytes < 8 && (value >> (8 * bytes - 1)) != 0) ++bytes;
    const bool ninth = bytes == 8 && (value >> 63) != 0;
    Byte(kLong1);
    Byte(static_cast<uint8_t>(ninth ? 9 : bytes));
    LittleEndian(value, bytes);
    if (ninth) Byte(0);
  }
}

void PickleWriter::Integer(int64_t value) {
  if (value >= 0) {
    Unsigned(static_cast<uint64_t>(value));
  } else {
    Byte(kLong1);
    Byte(8);
    LittleEndian(static_cast<uint64_t>(value), 8);
  }
}

void PickleWriter::Boolean(bool value) { Byte(value ? kNewTrue : kNewFalse); }

void PickleWriter::Text(std::string_view text) {
  const auto [entry, is_new] = texts_.try_emplace(std::string(text), next_memo_);
  if (!is_new) {
    Recall(entry->second);
    return;
  }
  const std::string valid = ValidUtf8(text);
  Byte(kBinUnicode);
  LittleEndian(valid.size(), 4);
  for (const char c : valid) Byte(static_cast<uint8_t>(c));
  Remember();
}

void PickleWriter::Pair(uint64_t first, uint64_t second) {
  Unsigned(first);
  Unsigned(second);
  Byte(kTuple2);
}

void PickleWriter::BeginDict() {
  Byte(kEmptyDict);
  Byte(kMark);
}

void PickleWriter::EndDict() { Byte(kSetItems); }

void PickleWriter::BeginList() {
  Byte(kEmptyList);
  Byte(kMark);
  items_.push_back(0);
}

void PickleWriter::Item() {
  if (++items_.back() <= kBatch) return;
  Byte(kAppends);
  Byte(kMark);
  items_.back() = 1;
}

void PickleWriter::EndList() {
  Byte(kAppends);
  items_.pop_back();
}

PickleWriter::MemoId PickleWriter::Remember() {
  const MemoId id = next_memo_++;
  Byte(id <= 0xff ? kBinPut : kLongBinPut);
  LittleEndian(id, id <= 0xff ? 1 : 4);
  return id;
}

void PickleWriter::Recall(MemoId id) {
  Byte(id <= 0xff ? kBinGet : kLongBinGet);
  LittleEndian(id, id <= 0xff ? 1 : 4);
}

void PickleWriter::Finish() {
  Byte(kStop);
  sink_.Write(room_);
  room_.clear();
}

}  // namespace memtrace::interchange
