// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/unneeded_text.h"

#include "nlohmann/json.hpp"
#include "tools/analysis/annotation.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using nlohmann::ordered_json;

// A hundredth of what is held.
bool IsWorthSaying(uint64_t bytes, const Explanation& explanation) {
  constexpr uint64_t kPart = 100;
  return bytes > 0 && bytes >= explanation.held.bytes / kPart;
}

std::string DeadCyclesSentence(const Explanation& explanation) {
  const auto& dead = explanation.dead_cycles;
  if (!dead || !IsWorthSaying(dead->bytes, explanation)) return "";
  const std::string made = dead->made_at.empty() ? "" : ", made by " + Printable(dead->made_at);
  return FormatBytes(dead->bytes) + " are dead (" + FormatCounted(dead->blocks, "block") + made +
         "): objects in reference cycles hold them, which only the garbage collector frees. ";
}

ordered_json DeadCyclesJson(const analysis::DeadCycles& dead) {
  return {{"bytes", dead.bytes},
          {"blocks", dead.blocks},
          {"made_at", dead.made_at},
          {"is_all_that_grows", dead.is_all_that_grows}};
}

}  // namespace

std::string UnneededSentences(const Explanation& explanation) {
  return DeadCyclesSentence(explanation);
}

std::string CollectionsSentence(const Explanation& explanation) {
  const auto runs = analysis::AnnotatedNumber(explanation.annotations, "cycles.collections");
  if (!runs) return "";
  return "The garbage collector was called " + FormatCounted(*runs, "time") +
         " for requests that would have failed (MEMTRACE_COLLECT=1).";
}

void AddUnneeded(const Explanation& explanation, ordered_json& report) {
  if (explanation.dead_cycles) report["dead_cycles"] = DeadCyclesJson(*explanation.dead_cycles);
}

}  // namespace memtrace::report
