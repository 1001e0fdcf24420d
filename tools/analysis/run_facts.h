// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_RUN_FACTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_RUN_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/trace/trace_reader.h"
#include "tools/analysis/annotation.h"

namespace memtrace::analysis {

// What stood in for a card, by the counts that the simulated card and its host values left in the
// trace. Absent: not counted in this run.
struct SimulationFacts {
  std::optional<uint64_t> kernel_launches;
  std::optional<uint64_t> device_to_host_copies;  // reads of values that it may not know
  std::optional<uint64_t> copies_dropped;         // too large for the host
  std::optional<uint64_t> faults;       // memory touched when gone, or taken away when in use
  std::vector<std::string> first_faults;  // a sentence each
  std::string events;                   // "eager" or "lazy": when the card's work was done
  // Answers about the card's progress that the other timing would have given otherwise: 0 means
  // that both runs are the same.
  std::optional<uint64_t> timed_answers;
  std::map<std::string, uint64_t> unsupported;    // calls answered "not supported", by name
};

// What the file says about the run and about itself.
struct RunFacts {
  std::string file;                   // as the user named it
  uint64_t file_bytes = 0;            // 0 if not known
  std::string command;                // words joined by blanks
  std::vector<std::string> words;     // of the command; empty if they are not told apart
  std::string folder;                 // the reader's current one; may be empty
  std::vector<std::string> siblings;  // traces of other processes beside the file
  std::string torch;
  std::string allocator;  // "memtrace" or "native"
  std::string card;       // as given to --card
  bool simulated = false;
  SimulationFacts simulation;
  trace::Completeness completeness;
};

RunFacts ReadRunFacts(const std::string& file, const std::map<std::string, std::string>& info,
                      const Annotations& annotations, const trace::Completeness& completeness);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_RUN_FACTS_H_
