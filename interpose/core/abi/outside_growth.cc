// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/abi/outside_growth.h"

#include <array>
#include <atomic>

#include "interpose/core/process.h"

namespace memtrace {
namespace {

constexpr Bytes kLeastGrowth = 64_MiB;
constexpr size_t kMostCards = 64;

}  // namespace

void SampleIfOutsideGrew(int device) {
  static std::array<std::atomic<Bytes>, kMostCards> next;
  if (device < 0 || static_cast<size_t>(device) >= kMostCards) return;
  std::atomic<Bytes>& due = next[static_cast<size_t>(device)];
  const Bytes now = Process::Get().outside().on_card(device);
  if (now < due.load(std::memory_order_relaxed)) return;
  due.store(now + now / 16 + kLeastGrowth, std::memory_order_relaxed);
  Process::Get().notes().SampleCards();
}

}  // namespace memtrace
