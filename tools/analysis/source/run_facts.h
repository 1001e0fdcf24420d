// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_RUN_FACTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_RUN_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/trace/reading/trace_reader.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/rank_groups.h"

namespace memtrace::analysis {

// A line of the program that read values of the card which no kernel had computed.
struct HostRead {
  uint64_t count = 0;
  bool assumed = false;   // they followed from an answer that was made up; otherwise unknown
  std::string operation;  // torch's operator
  std::string answer;     // what the host got; empty if it was not one number
  std::string place;      // "train.py:42 in step"
};

// The bytes that NCCL's communicators held of a simulated card at most, by a rule whose assumed
// parts leave an interval (docs/design/nccl-memory.md).
struct NcclBytes {
  uint64_t charged = 0;
  uint64_t least = 0;
  uint64_t most = 0;
  uint64_t communicators = 0;  // of several ranks
  uint64_t host = 0;           // pinned memory of the host
};

// Facts about what stood in for a card, from the counts that the simulated card and its host values
// left in the trace. A value that is absent was not counted in this run.
struct SimulationFacts {
  std::optional<uint64_t> kernel_launches;
  std::optional<uint64_t> device_to_host_copies;  // reads of values that it may not know
  std::optional<uint64_t> copies_dropped;         // too large for the host
  std::optional<uint64_t> faults;         // memory touched when gone, or taken away when in use
  std::vector<std::string> first_faults;  // a sentence each
  std::string events;                     // "eager" or "lazy": when the card's work was done
  // Answers about the card's progress that would have been different with the other timing; 0 means
  // that both runs are the same.
  std::optional<uint64_t> timed_answers;
  // Absent if no memory of the host was used at addresses of a card.
  std::optional<uint64_t> bus_bytes;            // that copies and fills moved over the bus
  std::optional<uint64_t> product_bus_bytes;    // an estimate of what matrix products moved
  std::optional<uint64_t> assumed_workspaces;   // library calls; absent if there were none
  std::map<int, NcclBytes> nccl;                // by card; only cards of which NCCL took memory
  std::map<std::string, uint64_t> unsupported;  // calls answered "not supported", by name
  // With host values (docs/design/host_values.md), the trace says which of the values were not
  // known.
  bool host_values = false;
  uint64_t reads_known = 0;
  uint64_t reads_assumed = 0;
  uint64_t reads_unknown = 0;
  std::vector<HostRead> reads;  // of values that were not known, the most frequent first
};

// Facts that the file states about the run and about itself.
struct RunFacts {
  std::string file;                   // as the user named it
  uint64_t file_bytes = 0;            // 0 if not known
  std::string command;                // words joined by blanks
  std::vector<std::string> words;     // of the command; empty if they are not told apart
  std::string folder;                 // the reader's current one; may be empty
  std::string host;                   // that it ran on
  std::string process;                // its number there
  uint64_t started_unix_ns = 0;       // when the trace began; 0 if not known
  std::string rank;                   // as launchers number the processes of a job; empty: none
  std::string world_size;             // ... how many there are
  std::vector<uint64_t> real_ranks;   // those that were started; empty: all
  std::vector<RankGroup> groups;      // process groups of the rank; empty: not known
  uint64_t ranks_alike = 0;           // of the job, that this rank stands for; 0: not known
  std::vector<std::string> siblings;  // traces of other processes beside the file
  std::string torch;
  std::string allocator;  // "memtrace" or "native"
  std::string card;       // as given to --card
  std::string snapshot;   // of torch: "whole", "late" if its events begin in the middle, "cut"
  std::string repaired;   // the original of a repaired trace and what is missing; else empty
  std::string plan;       // that was used (MEMTRACE_PLAN)
  uint64_t placed = 0;    // large allocations that went where the plan has them
  uint64_t placed_elsewhere = 0;
  bool simulated = false;
  SimulationFacts simulation;
  trace::Completeness completeness;
};

RunFacts ReadRunFacts(const std::string& file, const std::map<std::string, std::string>& info,
                      const Annotations& annotations, const trace::Completeness& completeness);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_RUN_FACTS_H_
