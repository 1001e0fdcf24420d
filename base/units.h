// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_UNITS_H_
#define MEMTRACE_BASE_UNITS_H_

#include <compare>
#include <cstdint>

namespace memtrace {

// Amounts of memory are plain 64-bit byte counts; literals say the unit: 24_GiB.
using Bytes = uint64_t;

consteval Bytes operator""_KiB(unsigned long long n) { return n << 10; }
consteval Bytes operator""_MiB(unsigned long long n) { return n << 20; }
consteval Bytes operator""_GiB(unsigned long long n) { return n << 30; }

// An address in a device's virtual address space. Never dereferenced by the host.
using DeviceAddress = uint64_t;

// Ordinal of a card, as torch and CUDA_VISIBLE_DEVICES count it.
enum class DeviceIndex : int32_t {};

// A CUDA stream, by the value of its handle; the allocator only compares it. 0 is the legacy
// default stream.
enum class StreamId : uint64_t {};

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
