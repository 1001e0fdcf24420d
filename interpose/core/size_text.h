// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_SIZE_TEXT_H_
#define MEMTRACE_INTERPOSE_CORE_SIZE_TEXT_H_

#include <cstdint>
#include <cstdio>
#include <string>

namespace memtrace {

// Formats bytes as torch's format_size does: "1.50 GiB".
inline std::string SizeText(uint64_t bytes) {
  constexpr double kMiB = 1 << 20;
  constexpr double kGiB = 1 << 30;
  const auto amount = static_cast<double>(bytes);
  char text[32];
  if (amount >= kGiB) {
    std::snprintf(text, sizeof(text), "%.2f GiB", amount / kGiB);
  } else if (amount >= kMiB) {
    std::snprintf(text, sizeof(text), "%.2f MiB", amount / kMiB);
  } else {
    std::snprintf(text, sizeof(text), "%.2f KiB", amount / 1024);
  }
  return text;
}

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_SIZE_TEXT_H_
