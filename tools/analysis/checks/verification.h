// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_CHECKS_VERIFICATION_H_
#define MEMTRACE_TOOLS_ANALYSIS_CHECKS_VERIFICATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/trace/reading/trace_reader.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// An event that contradicts earlier ones, or that refers to a name the file does not define.
struct EventFault {
  uint64_t event = 0;   // its place among the file's events, from 1
  uint64_t offset = 0;  // in the file, in bytes; 0: not known
  std::string what;     // a clause: "it frees 0x7f00 of card 0, where no block is in use"
};

// The result of reading a whole file.
struct Verification {
  std::string file;
  std::string kind;        // "trace" or "snapshot"; empty if neither
  std::string unreadable;  // a sentence; then nothing that follows is known
  uint64_t bytes = 0;      // of the file
  uint64_t events = 0;     // that could be read
  uint64_t fault_count = 0;
  std::vector<EventFault> faults;  // the first kMostFaults
  trace::Completeness completeness;

  static constexpr size_t kMostFaults = 100;
  bool whole() const { return unreadable.empty() && completeness.whole() && fault_count == 0; }
};

// Reads all events and adds their faults to `verification`. For a trace, it also adds where in the
// file they are and which definitions are missing. REQUIRES: verification.completeness is the
// file's.
void VerifyEvents(const EventSource& source, Verification& verification);
void VerifyEvents(const trace::TraceReader& reader, Verification& verification);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_CHECKS_VERIFICATION_H_
