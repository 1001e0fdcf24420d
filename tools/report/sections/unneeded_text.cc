// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/unneeded_text.h"

#include <algorithm>

#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/annotation.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using nlohmann::ordered_json;

constexpr uint64_t kPart = 100;  // 1/100 of what is held is the least that is mentioned

// Returns "The value of step 1 (14.19 GiB, edit.py:19) still lives while step 2 makes its own".
std::string StillAliveText(const analysis::UnreadValue& value, const Explanation& explanation) {
  const uint64_t now = explanation.card_of_verdict().when.at.step;
  const std::string lives = explanation.failure.request ? " still lives" : " still lived";
  const std::string makes = explanation.failure.request ? " makes " : " made ";
  const std::string what = " (" + FormatBytes(value.bytes) + ", " + Printable(value.made_at) + ")";
  if (value.step == 0 || value.step >= now)
    return "The value from before" + what + lives + " while the line" + makes + "the next";
  return "The value of step " + std::to_string(value.step) + what + lives + " while step " +
         std::to_string(now) + makes + "its own";
}

std::string DeadCyclesSentence(const Explanation& explanation) {
  const auto& dead = explanation.kept.dead_cycles;
  if (!dead || !explanation.holders.is_of_weight(dead->bytes, kPart)) return "";
  const std::string made = dead->made_at.empty() ? "" : ", made by " + Printable(dead->made_at);
  return FormatBytes(dead->bytes) + " are dead (" + FormatCounted(dead->blocks, "block") + made +
         "): objects in reference cycles hold them, which only the garbage collector frees. ";
}

std::string KeeperText(const analysis::FailedAttempts& left) {
  using Keeper = analysis::FailedAttempts::Keeper;
  const std::string place = left.place.empty() ? "" : " (" + Printable(left.place) + ")";
  if (left.keeper == Keeper::kHandler)
    return ": the program tries again in the except clause" + place +
           ", and the exception's traceback still holds what that attempt made. ";
  if (left.keeper == Keeper::kName)
    return ": '" + Printable(left.name) + "'" + place +
           " still holds the exception, whose traceback holds what that attempt made. ";
  return " and still live. ";
}

std::string AttemptsSentence(const Explanation& explanation) {
  const auto& left = explanation.kept.failed_attempts;
  if (!left || !explanation.holders.is_of_weight(left->bytes, kPart)) return "";
  const std::string whose = left->attempts == 1
                                ? "an attempt that failed before"
                                : FormatCount(left->attempts) + " attempts that failed before";
  return FormatBytes(left->bytes) + " were made in " + whose + KeeperText(*left);
}

ordered_json UnreadNamesJson(const Explanation& explanation) {
  ordered_json rows = ordered_json::array();
  for (const analysis::UnreadValue& value : explanation.kept.unread) {
    rows.push_back({{"name", value.name},
                    {"at", value.place},
                    {"made_at", value.made_at},
                    {"bytes", value.bytes},
                    {"blocks", value.blocks},
                    {"since_step", value.step},
                    {"is_earlier", value.is_earlier},
                    {"is_cached", value.is_cached}});
  }
  return rows;
}

ordered_json FailedAttemptsJson(const analysis::FailedAttempts& left) {
  using Keeper = analysis::FailedAttempts::Keeper;
  const bool is_handled = left.keeper == Keeper::kHandler;
  return {{"bytes", left.bytes},
          {"blocks", left.blocks},
          {"attempts", left.attempts},
          {"kept_by", is_handled                     ? "handler"
                      : left.keeper == Keeper::kName ? "name"
                                                     : "unknown"},
          {"name", left.name},
          {"at", left.place}};
}

ordered_json DeadCyclesJson(const analysis::DeadCycles& dead) {
  return {{"bytes", dead.bytes},
          {"blocks", dead.blocks},
          {"made_at", dead.made_at},
          {"is_all_that_grows", dead.is_all_that_grows}};
}

}  // namespace

std::string EarlierValueSentence(const Explanation& explanation) {
  const auto found = std::find_if(explanation.kept.unread.begin(), explanation.kept.unread.end(),
                                  [](const auto& value) { return value.is_earlier; });
  if (found == explanation.kept.unread.end() ||
      !explanation.holders.is_of_weight(found->bytes, kPart))
    return "";
  return StillAliveText(*found, explanation) + ": '" + Printable(found->name) +
         (explanation.failure.request ? "' holds it." : "' held it.");
}

std::string UnreadSentence(const Explanation& explanation) {
  constexpr uint64_t kTwentieth = 20;
  const auto found = std::find_if(explanation.kept.unread.begin(), explanation.kept.unread.end(),
                                  [](const auto& value) { return !value.is_earlier; });
  if (found == explanation.kept.unread.end() ||
      !explanation.holders.is_of_weight(found->bytes, kTwentieth))
    return "";
  const std::string made = found->made_at.empty() ? "" : " (" + Printable(found->made_at) + ")";
  if (found->is_cached)
    return "The functools.lru_cache of " + Printable(found->name) + " (" + Printable(found->place) +
           ") alone holds " + FormatBytes(found->bytes) + ".";
  return "'" + Printable(found->name) + "' " + (explanation.failure.request ? "holds " : "held ") +
         FormatBytes(found->bytes) + made + " that nothing reads again.";
}

std::string UnneededSentences(const Explanation& explanation) {
  const std::string earlier = EarlierValueSentence(explanation);
  return earlier + (earlier.empty() ? "" : " ") + AttemptsSentence(explanation) +
         DeadCyclesSentence(explanation);
}

std::string CollectionsSentence(const Explanation& explanation) {
  const auto runs =
      analysis::AnnotatedNumber(explanation.run.annotations, trace::fact::kCyclesCollections);
  if (!runs) return "";
  return "The garbage collector was called " + FormatCounted(*runs, "time") +
         " for requests that would have failed (MEMTRACE_COLLECT=1).";
}

void AddUnneeded(const Explanation& explanation, ordered_json& report) {
  if (!explanation.kept.unread.empty()) report["unread_names"] = UnreadNamesJson(explanation);
  if (explanation.kept.failed_attempts)
    report["failed_attempts"] = FailedAttemptsJson(*explanation.kept.failed_attempts);
  if (explanation.kept.dead_cycles)
    report["dead_cycles"] = DeadCyclesJson(*explanation.kept.dead_cycles);
}

}  // namespace memtrace::report
