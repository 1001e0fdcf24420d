// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/host_limit.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "base/environment.h"
#include "interpose/core/spoken_sentence.h"
#include "profiler/trace/events/amount.h"

namespace memtrace {
namespace {

// Returns the bytes that the host's kernel calls available; 0 if it does not say.
Bytes AvailableOfMachine() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word != "MemAvailable:") continue;
    Bytes kibibytes = 0;
    file >> kibibytes;
    return kibibytes * 1_KiB;
  }
  return 0;
}

// Returns the bytes that the process's group of control may still take; nothing without a limit.
std::optional<Bytes> AvailableOfGroup() {
  Bytes most = 0;
  Bytes used = 0;
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::ifstream current("/sys/fs/cgroup/memory.current");
  if (!(limit >> most) || !(current >> used)) return std::nullopt;
  return most > used ? most - used : 0;
}

}  // namespace

Bytes HostAvailable() {
  const Bytes machine = AvailableOfMachine();
  return std::min(machine, AvailableOfGroup().value_or(machine));
}

Bytes HostLimit() {
  const std::string text(env::Text(env::kHostLimit));
  if (const auto bytes = trace::BytesOf(text); !text.empty() && bytes) return *bytes;
  if (!text.empty())
    PrintSentence(std::string(env::kHostLimit.name()) + "=" + text +
                  " is not an amount such as 64GiB, so half of the host's memory is the limit.");
  return HostAvailable() / 2;
}

}  // namespace memtrace
