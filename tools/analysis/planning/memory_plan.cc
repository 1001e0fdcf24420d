// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/planning/memory_plan.h"

#include <map>
#include <utility>

#include "tools/analysis/planning/cycle_packing.h"
#include "tools/analysis/planning/time_line.h"

namespace memtrace::analysis {
namespace {

void Place(const TimeLine& line, const PackingBudget& budget, StreamPlan& planned) {
  const Packing packing = PackCycle(line, budget);
  planned.section.prologue = line.prologue;
  planned.section.bytes = packing.height;
  planned.section.items.reserve(line.items.size());
  for (size_t i = 0; i < line.items.size(); ++i) {
    planned.section.items.push_back({line.items[i].size, packing.offsets[i]});
  }
  planned.lower_bound = packing.lower_bound;
  planned.is_optimal = packing.is_optimal;
}

}  // namespace

StreamPlan PlanStream(const StreamRequests& requests, bool ends_in_failure,
                      const PackingBudget& budget) {
  const std::vector<RequestedBlock>& blocks = requests.blocks;
  StreamPlan planned{
      .section = {.device = requests.device, .stream = 0, .bytes = 0, .prologue = 0, .items = {}},
      .repetition = ends_in_failure ? Repetition{} : FindRepetition(blocks),
      .ends_in_failure = ends_in_failure,
      .requests = blocks.size()};
  const bool repeats = planned.repetition.period > 0;
  Place(repeats ? TimeLineOf(blocks, planned.repetition) : TimeLineOf(blocks), budget, planned);
  const size_t end = repeats ? planned.repetition.end : blocks.size();
  for (size_t i = 0; i < blocks.size(); ++i) {
    planned.requested += blocks[i].size;
    if (i < end) planned.planned += blocks[i].size;
  }
  return planned;
}

MemoryPlan PlanMemory(const RequestLog& log, const PackingBudget& budget) {
  MemoryPlan plan{.streams = {}, .requested = log.requested(), .reserved = log.reserved()};
  std::map<int32_t, uint32_t> streams;  // of each card so far
  plan.streams.reserve(log.streams().size());
  for (const StreamRequests& requests : log.streams()) {
    plan.streams.push_back(PlanStream(requests, log.EndsInFailure(requests.device), budget));
    plan.streams.back().section.stream = streams[requests.device]++;
  }
  return plan;
}

Plan MemoryPlan::plan() const {
  Plan plan;
  for (const StreamPlan& stream : streams) plan.Add(stream.section);
  return plan;
}

}  // namespace memtrace::analysis
