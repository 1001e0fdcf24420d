// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_CODING_RECORD_DECODER_H_
#define MEMTRACE_PROFILER_TRACE_CODING_RECORD_DECODER_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "profiler/trace/coding/event_fields.h"
#include "profiler/trace/coding/varint.h"

namespace memtrace::trace {

// A record as it is stored in a block.
struct RawRecord {
  RecordKind kind = RecordKind::kNone;
  const uint8_t* body = nullptr;
  const uint8_t* end = nullptr;  // end of the body and of the record
};

// Returns the record at `in`; nothing if [in, limit) has no whole record.
inline std::optional<RawRecord> NextRecord(const uint8_t* in, const uint8_t* limit) {
  if (in >= limit || *in == 0) return std::nullopt;
  RawRecord record{.kind = static_cast<RecordKind>(*in)};
  uint64_t length = 0;
  record.body = GetVarint(in + 1, limit, &length);
  if (record.body == nullptr) return std::nullopt;
  if (length > static_cast<uint64_t>(limit - record.body)) return std::nullopt;
  record.end = record.body + length;
  return record;
}

// Reads the body of one record. Reading past its end, or a number that its field cannot hold, makes
// ok() false for good. Bytes after the last field come from a later writer and are ignored.
class RecordDecoder {
 public:
  RecordDecoder(const RawRecord& record, DeltaState& delta)
      : in_(record.body), end_(record.end), delta_(delta) {}

  bool ok() const { return in_ != nullptr; }

  template <typename T>
  void Number(T& field) {
    uint64_t value = 0;
    if (!Varint(&value)) return;
    uint64_t most = std::numeric_limits<uint64_t>::max();
    if constexpr (sizeof(T) < sizeof(uint64_t)) most = (uint64_t{1} << (8 * sizeof(T))) - 1;
    if (value > most) {
      in_ = nullptr;
      return;
    }
    if constexpr (std::is_same_v<T, Role>) value = value < kRoleCount ? value : 0;
    field = static_cast<T>(value);
  }
  // Reads a field that older writers did not have: 0 if the body ends before it.
  void Appended(uint64_t& field) {
    field = 0;
    if (in_ != end_) Number(field);
  }
  void Moment(uint64_t& sequence, uint64_t& time_ns) {
    uint64_t passed = 0;
    uint64_t ahead = 1;
    if (!Varint(&passed) || ((passed & 1) != 0 && !Varint(&ahead))) return;
    sequence = delta_.sequence += ahead;
    time_ns = delta_.time_ns += passed >> 1;
  }
  void Device(int32_t& device) {
    uint64_t value = 0;
    if (Varint(&value)) AssignDevice(device, value);
  }
  void Place(int32_t& device, uint64_t& address) {
    uint64_t device_and_how = 0;
    uint64_t coded = 0;
    if (!Varint(&device_and_how) || !Varint(&coded)) return;
    auto distance = static_cast<uint64_t>(UnZigZag(coded));
    if ((device_and_how & 1) == 0) distance <<= 9;
    const bool from_far = (device_and_how & 2) != 0;
    AssignDevice(device, device_and_how >> 2);
    address = (from_far ? delta_.far : delta_.address) + distance;
    delta_.UpdateAddress(address, from_far, static_cast<int64_t>(distance));
  }

  uint64_t Flags(std::initializer_list<bool> /*differs*/) {
    uint64_t mask = 0;
    Varint(&mask);
    return mask;
  }
  template <typename T>
  void Unless(uint64_t mask, unsigned bit, T& field, T expected) {
    if ((mask >> bit & 1) != 0) {
      Number(field);
    } else {
      field = expected;
    }
  }
  void Unless(uint64_t mask, unsigned bit, int32_t& device, int32_t expected) {
    device = expected;
    if ((mask >> bit & 1) != 0) Device(device);
  }
  void Near(uint64_t& field, uint64_t other) {
    uint64_t distance = 0;
    if (Varint(&distance)) field = other + static_cast<uint64_t>(UnZigZag(distance));
  }
  void NearUnless(uint64_t mask, unsigned bit, uint64_t& field, uint64_t expected) {
    field = expected;
    if ((mask >> bit & 1) != 0) Near(field, expected);
  }
  template <typename T>
  void List(std::vector<T>& items, size_t most) {
    uint64_t count = 0;
    if (!Varint(&count)) return;
    if (count > most) {
      in_ = nullptr;
      return;
    }
    items.resize(count);
    for (T& item : items) CodeFields(*this, item);
  }
  void Text(std::string_view& text);
  DeltaState& delta() { return delta_; }

 private:
  bool Varint(uint64_t* value) {
    if (in_ != nullptr) in_ = GetVarint(in_, end_, value);
    return in_ != nullptr;
  }
  void AssignDevice(int32_t& device, uint64_t value) {
    if (value > std::numeric_limits<uint32_t>::max()) {
      in_ = nullptr;
      return;
    }
    device = static_cast<int32_t>(UnZigZag(value));
  }

  const uint8_t* in_;  // null once something did not fit
  const uint8_t* end_;
  DeltaState& delta_;
};

// Decodes an event; for kFreed only the first one, from which Complete makes the second. Returns
// false if the body does not fit its kind, or the kind is not an event.
bool DecodeEvent(const RawRecord& record, DeltaState& delta, Event* event);

void Complete(Event* free_requested);

// True for kinds that DecodeEvent knows.
bool IsKnownEvent(RecordKind kind);

// Returns the kind of event that a record restates; kNone if it does not restate any.
RecordKind RestatedEvent(RecordKind kind);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_CODING_RECORD_DECODER_H_
