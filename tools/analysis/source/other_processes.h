// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_OTHER_PROCESSES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_OTHER_PROCESSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::analysis {

// Another process of the same launch that held memory of a report's card at the report's moment.
struct OtherProcess {
  // The first two are children, or children of children.
  enum class Relation : uint8_t { kDataWorker, kWorker, kParent, kRank, kProcess };

  std::string pid;
  uint64_t bytes = 0;  // on that card
  Relation relation = Relation::kProcess;
  std::string rank;  // of kRank

  // Taken from its own trace, at the same time; nothing if there is none.
  struct Holdings {
    std::string file;
    uint64_t context = 0;
    uint64_t live = 0;
    std::string largest;  // role and site of its largest holding; empty without one
    uint64_t largest_bytes = 0;
    std::string line = {};      // the user's that made it; empty if that is not known
    bool is_of_file = false;    // it was loaded, and is a checkpoint's
    bool has_own_card = false;  // it also holds memory of another card
  };
  std::optional<Holdings> holds;
};

// Parses the annotation "card.processes.CARD"; malformed entries are left out.
std::vector<OtherProcess> ParseOtherProcesses(std::string_view text);

// Returns the bytes of all of them, at most `others`, because a process may have freed memory
// since.
uint64_t BytesOfLaunch(const std::vector<OtherProcess>& processes, uint64_t others);

// Processes of the same relation; each rank is a group of its own.
struct OtherGroup {
  OtherProcess::Relation relation = OtherProcess::Relation::kProcess;
  std::string rank;
  std::vector<const OtherProcess*> processes;
  uint64_t bytes = 0;
};
// Returns the groups, most bytes first. REQUIRES: `processes` outlive them.
std::vector<OtherGroup> GroupOthers(const std::vector<OtherProcess>& processes);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_OTHER_PROCESSES_H_
