// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/other_processes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace memtrace::analysis {
namespace {

using Relation = OtherProcess::Relation;

Relation RelationOf(std::string_view word) {
  if (word == "data_worker") return Relation::kDataWorker;
  if (word == "worker") return Relation::kWorker;
  if (word == "parent") return Relation::kParent;
  if (word == "rank") return Relation::kRank;
  return Relation::kProcess;
}

}  // namespace

std::vector<OtherProcess> ParseOtherProcesses(std::string_view text) {
  std::vector<OtherProcess> processes;
  for (const std::string& entry :
       std::vector<std::string>(absl::StrSplit(std::string(text), ';'))) {
    const std::vector<std::string> words = absl::StrSplit(entry, ' ');
    OtherProcess process;
    uint64_t pid = 0;
    if (words.size() < 3 || !absl::SimpleAtoi(words[0], &pid) ||
        !absl::SimpleAtoi(words[1], &process.bytes))
      continue;
    process.pid = words[0];
    process.relation = RelationOf(words[2]);
    if (process.relation == Relation::kRank && words.size() > 3) process.rank = words[3];
    processes.push_back(std::move(process));
  }
  return processes;
}

uint64_t BytesOfLaunch(const std::vector<OtherProcess>& processes, uint64_t others) {
  uint64_t bytes = 0;
  for (const OtherProcess& process : processes) bytes += std::min(process.bytes, others - bytes);
  return bytes;
}

std::vector<OtherGroup> GroupOthers(const std::vector<OtherProcess>& processes) {
  std::vector<OtherGroup> groups;
  for (const OtherProcess& process : processes) {
    auto group = std::find_if(groups.begin(), groups.end(), [&process](const OtherGroup& known) {
      return known.relation == process.relation && known.rank == process.rank;
    });
    if (group == groups.end()) {
      groups.push_back({process.relation, process.rank, {}, 0});
      group = std::prev(groups.end());
    }
    group->processes.push_back(&process);
    group->bytes += process.bytes;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const OtherGroup& a, const OtherGroup& b) { return a.bytes > b.bytes; });
  return groups;
}

}  // namespace memtrace::analysis
