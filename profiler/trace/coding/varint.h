// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_CODING_VARINT_H_
#define MEMTRACE_PROFILER_TRACE_CODING_VARINT_H_

#include <cstddef>
#include <cstdint>

namespace memtrace::trace {

inline constexpr size_t kMaxVarintBytes = 10;

// Writes a varint as in protobuf: seven bits a byte, low bits first, the top bit set on all bytes
// but the last. REQUIRES: kMaxVarintBytes at `out`. Returns the byte after the last one.
inline uint8_t* PutVarint(uint64_t value, uint8_t* out) {
  while (value >= 0x80) {
    *out++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

// The rest of GetVarint: for varints of several bytes, or an empty range.
inline const uint8_t* GetLongVarint(const uint8_t* in, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 64 && in < end; shift += 7) {
    const uint64_t byte = *in++;
    if (shift == 63 && byte > 1) return nullptr;  // more than 64 bits
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return in;
    }
  }
  return nullptr;
}

// Returns the byte after the varint, or null if [in, end) holds no whole one.
inline const uint8_t* GetVarint(const uint8_t* in, const uint8_t* end, uint64_t* value) {
  if (in >= end || *in >= 0x80) return GetLongVarint(in, end, value);
  *value = *in;
  return in + 1;
}

// Maps small magnitudes to small numbers: 0, -1, 1, -2 ... to 0, 1, 2, 3 ...
constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_CODING_VARINT_H_
