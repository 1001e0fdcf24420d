// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "allocator/plan/plan.h"
#include "allocator/plan/plan_cursor.h"
#include "base/check.h"
#include "tests/fuzz/targets.h"

namespace memtrace::fuzz {
namespace {

// Follows the plan twice, with some requests left out and some added.
void Follow(const PlanSection& section) {
  PlanCursor cursor(section);
  for (size_t i = 0; i < 2 * section.items.size(); ++i) {
    const PlanSection::Item& item = section.items[i % section.items.size()];
    if (i % 7 == 3) continue;
    if (i % 11 == 5) cursor.Next(item.size + 512);
    const auto due = cursor.NextIfDue(item.size);
    const auto offset = cursor.Next(item.size);
    MEMTRACE_CHECK(!due.has_value() || due == offset);
    if (offset.has_value()) MEMTRACE_CHECK_LE(*offset, section.bytes - item.size);
  }
}

}  // namespace

void PlanFile(std::string_view text) {
  const absl::StatusOr<Plan> plan = Plan::Parse(text);
  if (!plan.ok()) {
    MEMTRACE_CHECK(!plan.status().message().empty());
    return;
  }
  MEMTRACE_CHECK(Plan::Parse(plan->Text()).value() == *plan);
  for (const PlanSection& section : plan->sections()) {
    MEMTRACE_CHECK(Plan::Check(section).ok());
    Follow(section);
  }
}

}  // namespace memtrace::fuzz
