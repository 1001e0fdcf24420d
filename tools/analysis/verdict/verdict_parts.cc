// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/verdict_parts.h"

#include <array>
#include <cstddef>

namespace memtrace::analysis {

std::string_view ContributorName(Contributor contributor) {
  static constexpr auto kNames = std::to_array<std::string_view>({
#define MEMTRACE_CONTRIBUTION(name, text, meaning) text,
#include "tools/analysis/verdict/verdict_parts.def"
#undef MEMTRACE_CONTRIBUTION
  });
  return kNames[static_cast<size_t>(contributor)];
}

std::string_view HowKnownName(HowKnown how_known) {
  static constexpr auto kNames = std::to_array<std::string_view>({
#define MEMTRACE_HOW_KNOWN(name, text, meaning) text,
#include "tools/analysis/verdict/verdict_parts.def"
#undef MEMTRACE_HOW_KNOWN
  });
  return kNames[static_cast<size_t>(how_known)];
}

}  // namespace memtrace::analysis
