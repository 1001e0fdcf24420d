// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/trace_files.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "profiler/trace/coding/format.h"

namespace memtrace::trace {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string WithoutPid(const std::string& name) {
  const size_t dot = name.rfind('.');
  const bool has_pid =
      dot != std::string::npos && dot > 0 && IsNumber(std::string_view(name).substr(dot + 1));
  return has_pid ? name.substr(0, dot) : name;
}

bool IsTraceName(const std::string& name) { return WithoutPid(name).ends_with(".trace"); }

// The magic alone would also be that of a plan, whose text begins "memtrace-plan". No version needs
// the upper half of its field.
bool BeginsAsTrace(const std::string& path) {
  std::array<char, kFileMagic.size() + sizeof(FileHeader::version)> beginning{};
  std::ifstream(path, std::ios::binary).read(beginning.data(), beginning.size());
  const bool has_magic = std::equal(kFileMagic.begin(), kFileMagic.end(), beginning.begin());
  return has_magic && beginning[beginning.size() - 2] == 0 && beginning.back() == 0;
}

}  // namespace memtrace::trace
