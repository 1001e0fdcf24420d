// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/card_thread.h"

namespace memtrace::shim {
namespace {

// Copies of this thread that nested operators have accounted for, by Known.
thread_local std::array<uint64_t, 3> said = {};

}  // namespace

std::optional<Known> ReadWatch::Seen() const {
  const Counts now = UnaccountedCopies();
  for (size_t known = 0; known < now.size(); ++known) {
    if (now[known] > before_[known]) return static_cast<Known>(known);
  }
  return std::nullopt;
}

void ReadWatch::MarkAccounted() const {
  const Counts now = UnaccountedCopies();
  for (size_t known = 0; known < now.size(); ++known) said[known] += now[known] - before_[known];
}

ReadWatch::Counts ReadWatch::UnaccountedCopies() const {
  Counts counts;
  for (size_t known = 0; known < counts.size(); ++known) {
    counts[known] = thread_.reads[known] - said[known];
  }
  return counts;
}

}  // namespace memtrace::shim
