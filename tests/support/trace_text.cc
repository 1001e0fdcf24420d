// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: trace_text FILE            prints the trace as profiler/trace/text_trace.h describes it
//        trace_text --write FILE    writes the trace that stdin describes
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "profiler/trace/text_trace.h"

namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

int Write(const char* path) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const absl::Status written = memtrace::trace::WriteTextTrace(text, path);
  return written.ok() ? 0 : Fail(written);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--write") return Write(argv[2]);
  if (argc != 2) return 2;
  const auto reader = memtrace::trace::TraceReader::Open(argv[1]);
  if (!reader.ok()) return Fail(reader.status());
  const std::string text = memtrace::trace::TraceToText(*reader);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
