// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/recorded_text/recorded_paths.h"

#include <utility>

#include "base/environment.h"

namespace memtrace {

std::string WithoutFolders(std::string_view text) {
  constexpr std::string_view kEnds = " \t\n\"'=,;:()[]{}";
  std::string cut;
  size_t path = 0;  // where the current path begins in `cut`
  for (const char c : text) {
    if (c == '/') {
      cut.resize(path);
      continue;
    }
    cut += c;
    if (kEnds.find(c) != std::string_view::npos) path = cut.size();
  }
  return cut;
}

std::string AsRecorded(std::string text) {
  static const bool kWithout = env::Is(env::kPaths, "0");
  return kWithout ? WithoutFolders(text) : std::move(text);
}

}  // namespace memtrace
