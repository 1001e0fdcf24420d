// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_CODING_RECORD_ENCODER_H_
#define MEMTRACE_PROFILER_TRACE_CODING_RECORD_ENCODER_H_

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "profiler/trace/coding/event_fields.h"
#include "profiler/trace/coding/varint.h"

namespace memtrace::trace {

// The most bytes of any record but out_of_memory: kind, length, at most 16 varints.
inline constexpr size_t kMaxPlainRecord = 3 + 16 * kMaxVarintBytes;

inline size_t MaxRecordBytes(const OutOfMemory& event) {
  return kMaxPlainRecord + std::min(event.cards.size(), kMaxCards) * 14 * kMaxVarintBytes;
}
constexpr size_t MaxRecordBytes(const Alive&) { return 2 * kMaxPlainRecord; }
template <typename E>
constexpr size_t MaxRecordBytes(const E&) {
  return kMaxPlainRecord;
}

// Writes one record, {kind, varint length, body}, at `out`, where the caller has made room.
class RecordEncoder {
 public:
  RecordEncoder(RecordKind kind, uint8_t* out, DeltaState& delta)
      : start_(out), out_(out + 2), delta_(delta) {
    *start_ = static_cast<uint8_t>(kind);
  }

  template <typename T>
  void Number(T value) {
    out_ = PutVarint(static_cast<uint64_t>(value), out_);
  }
  void Appended(uint64_t value) { Number(value); }
  // Writes sequence number and time. Most events follow the previous one, and then have no number.
  void Moment(uint64_t sequence, uint64_t time_ns) {
    const uint64_t passed = time_ns > delta_.time_ns ? time_ns - delta_.time_ns : 0;
    const bool jumps = sequence != delta_.sequence + 1;
    Number(passed << 1 | (jumps ? 1 : 0));
    if (jumps) Number(sequence - delta_.sequence);
    delta_.sequence = sequence;
    delta_.time_ns += passed;
  }
  void Device(int32_t device) { Number(ZigZag(device)); }

  // Writes the distance from the nearer one of two addresses. Most are multiples of 512, whose nine
  // low bits are not written. The lowest bits of the device tell which of these apply.
  void Place(int32_t device, uint64_t address) {
    const auto near = static_cast<int64_t>(address - delta_.address);
    const auto far = static_cast<int64_t>(address - delta_.far);
    const bool from_far = ZigZag(far) < ZigZag(near);
    const int64_t distance = from_far ? far : near;
    const bool odd = (distance & 511) != 0;
    Number(ZigZag(device) << 2 | (from_far ? 2 : 0) | (odd ? 1 : 0));
    Number(ZigZag(odd ? distance : distance >> 9));
    delta_.UpdateAddress(address, from_far, distance);
  }

  uint64_t Flags(std::initializer_list<bool> differs) {
    uint64_t mask = 0;
    unsigned bit = 0;
    for (const bool flag : differs) mask |= uint64_t{flag} << bit++;
    Number(mask);
    return mask;
  }
  template <typename T>
  void Unless(uint64_t mask, unsigned bit, T value, T /*expected*/) {
    if ((mask >> bit & 1) != 0) Number(value);
  }
  void Unless(uint64_t mask, unsigned bit, int32_t device, int32_t /*expected*/) {
    if ((mask >> bit & 1) != 0) Device(device);
  }
  void Near(uint64_t value, uint64_t other) { Number(ZigZag(static_cast<int64_t>(value - other))); }
  void NearUnless(uint64_t mask, unsigned bit, uint64_t value, uint64_t expected) {
    if ((mask >> bit & 1) != 0) Near(value, expected);
  }
  template <typename T>
  void List(const std::vector<T>& items, size_t most) {
    const size_t count = std::min(items.size(), most);
    Number(count);
    for (size_t i = 0; i < count; ++i) CodeFields(*this, items[i]);
  }
  // REQUIRES: text.size() <= kMaxStringBytes.
  void Text(std::string_view text) {
    Number(text.size());
    std::memcpy(out_, text.data(), text.size());
    out_ += text.size();
  }
  DeltaState& delta() { return delta_; }

  // Fills in the length and returns the end of the record. Bodies of 128 bytes or more are moved up
  // to make room for a longer length.
  uint8_t* Finish() {
    uint8_t* const body = start_ + 2;
    const auto length = static_cast<size_t>(out_ - body);
    if (length >= 0x80) {
      uint8_t prefix[kMaxVarintBytes];
      const auto prefix_bytes = static_cast<size_t>(PutVarint(length, prefix) - prefix);
      std::memmove(start_ + 1 + prefix_bytes, body, length);
      std::memcpy(start_ + 1, prefix, prefix_bytes);
      return start_ + 1 + prefix_bytes + length;
    }
    start_[1] = static_cast<uint8_t>(length);
    return out_;
  }

 private:
  uint8_t* start_;
  uint8_t* out_;
  DeltaState& delta_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_CODING_RECORD_ENCODER_H_
