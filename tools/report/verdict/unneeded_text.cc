// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/unneeded_text.h"

#include <algorithm>

#include "messages/message.h"
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

// Says that a name still holds an earlier value; of the step before, or of the line's own before.
std::string StillHeldSentence(const analysis::UnreadValue& value, const Explanation& explanation) {
  const uint64_t now = explanation.card_of_verdict().when.at.step;
  const bool is_now = explanation.failure.request.has_value();
  const std::string name = Printable(value.name);
  const std::string bytes = FormatBytes(value.bytes);
  const std::string line = Printable(value.made_at);
  const bool is_of_step = value.step > 0 && value.step < now;
  if (is_now && is_of_step)
    return Message("'$0' still holds the value of step $1 ($2, $3) while step $4 makes its own.",
                   name, value.step, bytes, line, now);
  if (is_of_step)
    return Message("'$0' still held the value of step $1 ($2, $3) while step $4 made its own.",
                   name, value.step, bytes, line, now);
  return is_now ? Message(
                      "'$0' still holds its earlier value ($1, $2) while the line makes the "
                      "next one.",
                      name, bytes, line)
                : Message(
                      "'$0' still held its earlier value ($1, $2) while the line made the next "
                      "one.",
                      name, bytes, line);
}

std::string DeadCyclesSentences(const Explanation& explanation) {
  const auto& dead = explanation.kept.dead_cycles;
  if (!dead || !explanation.holders.is_of_weight(dead->bytes, kPart)) return "";
  std::string text = CountedMessage(
      dead->blocks,
      "$0 is unreachable (1 block): objects in reference cycles hold it, and only the garbage "
      "collector frees them.",
      "$0 is unreachable ($1 blocks): objects in reference cycles hold it, and only the garbage "
      "collector frees them.",
      FormatBytes(dead->bytes), FormatCount(dead->blocks));
  if (dead->made_at.empty()) return text;
  return JoinedSentences({text, Message("It was allocated by $0.", Printable(dead->made_at))});
}

std::string KeeperSentence(const analysis::FailedAttempts& left) {
  using Keeper = analysis::FailedAttempts::Keeper;
  const std::string place = Printable(left.place);
  const std::string name = Printable(left.name);
  if (left.keeper == Keeper::kUnknown) return Message("It is still in use.");
  if (left.keeper == Keeper::kHandler) {
    return place.empty() ? Message(
                               "The program tries again in the except clause, where the "
                               "exception's traceback still holds what that attempt made.")
                         : Message(
                               "The program tries again in the except clause ($0), where the "
                               "exception's traceback still holds what that attempt made.",
                               place);
  }
  return place.empty() ? Message(
                             "'$0' still holds the exception, whose traceback holds what that "
                             "attempt made.",
                             name)
                       : Message(
                             "'$0' ($1) still holds the exception, whose traceback holds what "
                             "that attempt made.",
                             name, place);
}

std::string AttemptsSentences(const Explanation& explanation) {
  const auto& left = explanation.kept.failed_attempts;
  if (!left || !explanation.holders.is_of_weight(left->bytes, kPart)) return "";
  return JoinedSentences(
      {CountedMessage(left->attempts, "$0 was allocated in an earlier attempt that failed.",
                      "$0 was allocated in $1 earlier attempts that failed.",
                      FormatBytes(left->bytes), FormatCount(left->attempts)),
       KeeperSentence(*left)});
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
  return StillHeldSentence(*found, explanation);
}

std::string ResultsSentence(const Explanation& explanation) {
  constexpr uint64_t kTenth = 10;
  const auto& results = explanation.kept.results;
  if (!results || !explanation.holders.is_of_weight(results->bytes, kTenth)) return "";
  const analysis::GrowthCourse& growth = explanation.kept.growth;
  const bool is_growth = growth.is_worth_saying(explanation.holders.held.bytes) &&
                         growth.gained() >= results->bytes / 2;
  if (is_growth) return "";
  const std::string bytes = FormatBytes(results->bytes);
  if (results->name.empty())
    return Message("$0 of the memory held then is results of earlier passes, allocated at $1.",
                   bytes, Printable(results->line));
  return Message("The $0 '$1' ($2) keeps $3 of results of earlier passes.",
                 Printable(results->kind), Printable(results->name), Printable(results->place),
                 bytes);
}

std::string UnreadSentence(const Explanation& explanation) {
  constexpr uint64_t kTwentieth = 20;
  const auto found = std::find_if(explanation.kept.unread.begin(), explanation.kept.unread.end(),
                                  [](const auto& value) { return !value.is_earlier; });
  if (found == explanation.kept.unread.end() ||
      !explanation.holders.is_of_weight(found->bytes, kTwentieth))
    return "";
  const std::string name = Printable(found->name);
  const std::string bytes = FormatBytes(found->bytes);
  if (found->is_cached)
    return Message("The functools.lru_cache of $0 ($1) alone holds $2.", name,
                   Printable(found->place), bytes);
  const std::string made =
      found->made_at.empty() ? bytes : bytes + " (" + Printable(found->made_at) + ")";
  return explanation.failure.request
             ? Message("'$0' holds $1, which nothing reads again.", name, made)
             : Message("'$0' held $1, which nothing reads again.", name, made);
}

std::string UnneededSentences(const Explanation& explanation) {
  return JoinedSentences({EarlierValueSentence(explanation), AttemptsSentences(explanation),
                          DeadCyclesSentences(explanation)});
}

std::string CollectionsSentence(const Explanation& explanation) {
  const auto runs =
      analysis::AnnotatedNumber(explanation.run.annotations, trace::fact::kCyclesCollections);
  if (!runs) return "";
  return CountedMessage(
      *runs,
      "The garbage collector was called once for a request that would have failed "
      "(MEMTRACE_COLLECT=1).",
      "The garbage collector was called $0 times for requests that would have failed "
      "(MEMTRACE_COLLECT=1).",
      FormatCount(*runs));
}

void AddUnneeded(const Explanation& explanation, ordered_json& report) {
  if (!explanation.kept.unread.empty()) report["unread_names"] = UnreadNamesJson(explanation);
  if (explanation.kept.failed_attempts)
    report["failed_attempts"] = FailedAttemptsJson(*explanation.kept.failed_attempts);
  if (explanation.kept.dead_cycles)
    report["dead_cycles"] = DeadCyclesJson(*explanation.kept.dead_cycles);
}

}  // namespace memtrace::report
