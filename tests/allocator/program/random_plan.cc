// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/allocator/program/random_plan.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "allocator/blocks/size_policy.h"

namespace memtrace::program {

Plan MakePlan(const Program& program, uint64_t truth,
              const std::function<uint64_t(uint64_t)>& below) {
  std::vector<PlanSection> sections;
  std::vector<StreamId> streams;  // in order of appearance
  for (const Instruction& instruction : program) {
    const auto* request = std::get_if<Allocate>(&instruction);
    if (request == nullptr || IsSmall(RoundedSize(request->bytes))) continue;
    const auto stream = std::find(streams.begin(), streams.end(), request->stream);
    const auto number = static_cast<size_t>(stream - streams.begin());
    if (stream == streams.end()) {
      streams.push_back(request->stream);
      sections.push_back({.device = 0,
                          .stream = static_cast<uint32_t>(number),
                          .bytes = 32_MiB + below(64) * 1_MiB,
                          .prologue = 0,
                          .items = {}});
    }
    PlanSection& section = sections[number];
    const Bytes real = RoundedSize(request->bytes);
    const Bytes size =
        below(10) < truth ? real : 1_MiB + kAllocationUnit * (1 + below(8_MiB / kAllocationUnit));
    if (size > section.bytes) continue;
    const uint64_t places = (section.bytes - size) / kAllocationUnit + 1;
    section.items.push_back({size, kAllocationUnit * below(places)});
  }
  Plan plan;
  for (PlanSection& section : sections) {
    section.prologue = below(section.items.size() + 1);
    plan.Add(std::move(section));
  }
  return plan;
}

}  // namespace memtrace::program
