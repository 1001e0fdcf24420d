// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_PICKLE_BYTES_H_
#define MEMTRACE_TOOLS_INTERCHANGE_PICKLE_BYTES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memtrace::interchange {

// The pickle's bytes, read from left to right. A read past their end is remembered: ok() is false
// for good, and what was read is 0 or empty.
class PickleBytes {
 public:
  explicit PickleBytes(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t at() const { return at_; }
  bool is_at_end() const { return at_ >= bytes_.size(); }

  std::string_view Take(uint64_t count) {
    if (!ok_ || count > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }
  // Reads a little-endian number, as all numbers of a pickle are but its floats.
  template <typename T>
  T Number() {
    T number = 0;
    Take(sizeof(T)).copy(reinterpret_cast<char*>(&number), sizeof(T));
    return number;
  }
  double BigEndianFloat() {
    uint64_t bits = 0;
    for (const char byte : Take(sizeof(bits))) bits = bits << 8 | static_cast<uint8_t>(byte);
    return std::bit_cast<double>(bits);
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_PICKLE_BYTES_H_
