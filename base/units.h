// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_UNITS_H_
#define MEMTRACE_BASE_UNITS_H_

#include <charconv>
#include <compare>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace memtrace {

// Amounts of memory are plain 64-bit byte counts; literals have a unit: 24_GiB.
using Bytes = uint64_t;

consteval Bytes operator""_KiB(unsigned long long n) { return n << 10; }
consteval Bytes operator""_MiB(unsigned long long n) { return n << 20; }
consteval Bytes operator""_GiB(unsigned long long n) { return n << 30; }

// An address in a device's virtual address space; never dereferenced by the host. Its type is
// distinct from amounts of memory: address + bytes is an address, and the difference of two
// addresses is bytes.
class DeviceAddress {
 public:
  constexpr DeviceAddress() = default;  // null: no address
  constexpr explicit DeviceAddress(uint64_t value) : value_(value) {}

  // Returns the number that traces, the C ABI and the driver use.
  constexpr uint64_t value() const { return value_; }
  constexpr bool is_null() const { return value_ == 0; }
  // Returns a text such as "0x7f0000200000".
  std::string ToString() const {
    char digits[16];
    return {"0x" + std::string(digits, std::to_chars(digits, std::end(digits), value_, 16).ptr)};
  }

  constexpr DeviceAddress& operator+=(Bytes bytes) { return *this = *this + bytes; }
  friend constexpr DeviceAddress operator+(DeviceAddress address, Bytes bytes) {
    return DeviceAddress(address.value_ + bytes);
  }
  friend constexpr DeviceAddress operator-(DeviceAddress address, Bytes bytes) {
    return DeviceAddress(address.value_ - bytes);
  }
  // Returns the bytes from `begin` up to `end`, modulo 2^64.
  friend constexpr Bytes operator-(DeviceAddress end, DeviceAddress begin) {
    return end.value_ - begin.value_;
  }
  friend auto operator<=>(const DeviceAddress&, const DeviceAddress&) = default;
  template <typename H>
  friend H AbslHashValue(H h, DeviceAddress address) {
    return H::combine(std::move(h), address.value_);
  }

 private:
  uint64_t value_ = 0;
};

// The addresses [begin, end).
struct AddressRange {
  DeviceAddress begin;
  DeviceAddress end;

  static constexpr AddressRange Of(DeviceAddress address, Bytes size) {
    return {address, address + size};
  }

  constexpr Bytes size() const { return end - begin; }
  constexpr bool Contains(DeviceAddress address) const { return begin <= address && address < end; }
  constexpr bool Contains(const AddressRange& other) const {
    return begin <= other.begin && other.end <= end;
  }
  constexpr bool Overlaps(const AddressRange& other) const {
    return begin < other.end && other.begin < end;
  }
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// The ordinal of a card, as torch and CUDA_VISIBLE_DEVICES count it.
enum class DeviceIndex : int32_t {};

// A CUDA stream, by the value of its handle; the allocator only compares it. 0 is the legacy
// default stream.
enum class StreamId : uint64_t {};

// The caller's number for who requested a block and where. The allocator passes it on in every
// event of the block and never reads it. 0 means unknown.
enum class ContextId : uint64_t {};

// A memory pool: {0, 0} is the default one, others belong to captured graphs or to
// torch.cuda.MemPool.
struct PoolId {
  uint64_t first = 0;
  uint64_t second = 0;
  friend auto operator<=>(const PoolId&, const PoolId&) = default;
};

constexpr Bytes RoundUp(Bytes value, Bytes unit) { return (value + unit - 1) / unit * unit; }
constexpr Bytes RoundDown(Bytes value, Bytes unit) { return value / unit * unit; }

}  // namespace memtrace

#endif  // MEMTRACE_BASE_UNITS_H_
