// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: trace_text FILE. Prints the trace as profiler/trace/text_trace.h describes it.
#include <cstdio>
#include <string>

#include "profiler/trace/text_trace.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto reader = memtrace::trace::TraceReader::Open(argv[1]);
  if (!reader.ok()) {
    std::fprintf(stderr, "%s\n", std::string(reader.status().message()).c_str());
    return 1;
  }
  const std::string text = memtrace::trace::TraceToText(*reader);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
