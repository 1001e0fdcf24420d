// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/remedy_sections.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/annotation.h"
#include "tools/fit/trials/why_failed.h"
#include "tools/remedies/catalogue.h"
#include "tools/report/fit/frontier_section.h"
#include "tools/report/fit/time_words.h"
#include "tools/report/fit/verdict_sentences.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using fit::Answer;
using fit::CardNeed;
using fit::Outcome;
using fit::TriedRemedy;

constexpr size_t kNameWidth = 40;  // width of a remedy's name, beside its number

uint64_t MostReserved(const Outcome& outcome) {
  uint64_t most = 0;
  for (const CardNeed& need : fit::Joined(outcome.processes))
    most = std::max(most, need.peak_reserved);
  return most;
}

std::string OutcomeText(const Answer& answer, const TriedRemedy& remedy) {
  const Outcome& outcome = remedy.outcome;
  if (outcome.is_late) return Message("not known: takes too long");
  if (!outcome.completed && remedy.is_smaller_card && outcome.Failed())
    return Message("not with $0 % less", answer.margin_percent);
  if (!outcome.completed)
    return outcome.Failed() ? Message("does not fit") : Message("the program fails");
  if (outcome.would_run_out) return Message("does not fit");
  if (outcome.verdict() == fit::FitVerdict::kWillNotFit)
    return Message("fits only until step $0", FormatCount(outcome.outlook.full_in_step - 1));
  if (!outcome.fits()) return Message("not known: still rises");
  if (remedy.has_margin && !*remedy.has_margin)
    return Message("fits, not with $0 % less", answer.margin_percent);
  return Message("fits");
}

// Returns the names as a user reads them.
std::string NameText(const TriedRemedy& remedy) {
  std::string name;
  for (const fit::Candidate& change : remedy.changes)
    name += (name.empty() ? "" : " + ") + Printable(change.NameWithDegree());
  return name;
}

// Returns these words with the degree in which the change was made, if it has one.
std::string WordsOfDegree(const std::string& words, const fit::Candidate& change) {
  if (change.degree == 0) return words;
  switch (change.degrees.step) {
    case remedies::Step::kByOne:
      return Message("$0; only for the first $1 of $2 layers", words, change.degree, change.of);
    case remedies::Step::kDoubling:
      return Message("$0; here in $1 parts", words, change.degree);
    case remedies::Step::kHalving:
      return Message("$0; here of rank $1", words, change.degree);
    case remedies::Step::kOnce:
      break;
  }
  return words;
}

// Names the optimizer's class if the trace does.
std::string ChangeWords(const Answer& answer, const fit::Candidate& change) {
  const std::string optimizer =
      analysis::AnnotatedText(answer.unlimited.annotations, trace::fact::kOptimizerClass);
  if (!optimizer.empty() && change.hook == remedies::RowOf(remedies::Id::kFused).hook)
    return Printable(optimizer) + "(..., fused=True)";
  if (!optimizer.empty() && change.hook == remedies::RowOf(remedies::Id::kLoop).hook)
    return Printable(optimizer) + "(..., foreach=False)";
  return WordsOfDegree(Printable(MessageOf(change.change)), change);
}

std::string ChangeText(const Answer& answer, const fit::Candidate& change) {
  return Message("$0 (costs: $1)", ChangeWords(answer, change), MessageOf(change.cost));
}

TableRow RowOf(size_t number, const Answer& answer, const TriedRemedy& remedy) {
  const bool fits = remedy.outcome.fits();
  const std::string reserved = fits ? FormatBytes(MostReserved(remedy.outcome)) : "";
  const std::string time = fits ? TimeText(answer, remedy.outcome) : "";
  const std::string name = NameText(remedy);
  const bool is_long = Width(name) > kNameWidth;
  const size_t changes = remedy.changes.size();
  TableRow row{.cells = {std::to_string(number) + " " +
                             (is_long ? CountedMessage(changes, "1 change", "$0 changes",
                                                       FormatCount(changes))
                                      : name),
                         OutcomeText(answer, remedy), reserved}};
  if (!time.empty()) row.cells.push_back(time);
  if (is_long) row.below.push_back(name);
  for (const fit::Candidate& change : remedy.changes)
    row.below.push_back(ChangeText(answer, change));
  if (remedy.outcome.completed) {
    const std::string counted = CostText(answer.unlimited.cost(), remedy.outcome.cost());
    if (!counted.empty()) row.below.push_back(Message("counted in a step: $0", counted));
  }
  if (const auto failed = remedy.outcome.Failed()) row.below.push_back(FailedText(*failed));
  const std::string why = fit::WhyFailed(remedy.outcome.log_end, true);
  if (!why.empty()) row.below.push_back(Printable(why));
  return row;
}

std::string UselessNames(const Answer& answer) {
  std::string names;
  for (const fit::Candidate& candidate : answer.useless)
    names += (names.empty() ? "" : ", ") + Printable(MessageOf(candidate.name));
  return names;
}

// True if the numbers differ by less than 1 %.
bool IsNear(uint64_t before, uint64_t after) {
  const uint64_t difference = std::max(before, after) - std::min(before, after);
  return difference <= before / 100;
}

// Returns "1.90"; empty if it is the same.
std::string Ratio(uint64_t before, uint64_t after) {
  if (before == 0 || after == 0) return "";
  const double ratio = static_cast<double>(after) / static_cast<double>(before);
  return ratio > 0.99 && ratio < 1.01 ? "" : absl::StrFormat("%.2f", ratio);
}

// Returns the title of the verdicts: the steps that each run which fits was seen in.
std::string FirstStepsText(const Answer& answer) {
  fit::LeastSeen seen;
  for (const TriedRemedy& remedy : answer.remedies)
    if (remedy.outcome.fits()) seen.Add(remedy.outcome.outlook);
  if (!seen.has_runs || seen.is_whole || seen.steps == 0) return "";
  return CountedMessage(seen.steps, "in the first step", "in the first $0 steps",
                        FormatCount(seen.steps));
}

// Returns the sentence of an answer in which no change makes the program fit.
std::string NothingFitsText(const Answer& answer) {
  if (answer.stopped) return Message("None of the changes tried until then makes it fit.");
  return Message(
      "None of the changes below makes it fit. Let options of the script vary (--vary), or use a "
      "larger card (--smallest-card says which).");
}

// Returns the sentences about the smallest change that fits, and its margin.
std::string SmallestText(const Answer& answer, const TriedRemedy& remedy) {
  const fit::Outlook& seen = remedy.outcome.outlook;
  const std::string name = NameText(remedy);
  std::string smallest =
      seen.is_whole || seen.steps == 0
          ? Message("$0: the smallest change with which nothing failed on the card.", name)
          : CountedMessage(
                seen.steps,
                "$0: the smallest change with which nothing failed on the card in 1 step.",
                "$0: the smallest change with which nothing failed on the card in $1 steps.", name,
                FormatCount(seen.steps));
  if (answer.margin_percent == 0) return smallest;
  const std::string margin =
      remedy.has_margin.value_or(false)
          ? Message("It also fits a card that is $0 % smaller.", answer.margin_percent)
          : Message("No change tried was found to fit a card that is $0 % smaller.",
                    answer.margin_percent);
  return JoinedSentences({smallest, margin});
}

// Returns a single change that fits as well and is less work than the recommended ones, but of
// which the time of a step is not known; null if there is none.
const TriedRemedy* UntimedChange(const Answer& answer, const TriedRemedy& recommended) {
  if (!answer.has_plan()) return nullptr;
  for (const TriedRemedy& tried : answer.remedies) {
    if (tried.changes.size() != 1 || tried.changes.front().hook.empty()) continue;
    const std::optional<fit::StepTime> time = tried.outcome.time();
    const bool is_timed = time && time->is_whole();
    const bool fits = tried.had_effect && tried.outcome.fits() && !tried.is_smaller_card;
    if (!is_timed && fits && fit::IsLess(tried.changes, recommended.changes)) return &tried;
  }
  return nullptr;
}

}  // namespace

// In English, because it is for programs.
std::string NameOf(const TriedRemedy& remedy) {
  std::string name;
  for (const fit::Candidate& change : remedy.changes) {
    name += (name.empty() ? "" : " + ") + Printable(change.name);
    if (change.degree > 0) name += "=" + std::to_string(change.degree);
  }
  return name;
}

std::string FailedText(const fit::FailedLine& failed) {
  const std::string line = Printable(failed.line);
  const std::string at = DescribePosition(failed.at);
  const std::string requested = FormatBytes(failed.bytes);
  const std::string place = line.empty() ? at : Message("$0, $1", line, at);
  const std::string text = failed.short_by == 0 ? Message("$0: $1 requested", place, requested)
                                                : Message("$0: $1 requested, $2 short", place,
                                                          requested, FormatBytes(failed.short_by));
  return failed.is_fragmentation ? Message("$0; free memory is in pieces", text) : text;
}

std::string MarginText(const Answer& answer) {
  if (!answer.has_margin || answer.margin_percent == 0) return "";
  if (!answer.within.outlook.is_whole)
    return *answer.has_margin
               ? Message("These steps would also fit with $0 % less.", answer.margin_percent)
               : Message("These steps would not fit with $0 % less.", answer.margin_percent);
  return *answer.has_margin ? Message("It would also fit with $0 % less.", answer.margin_percent)
                            : Message("It would not fit with $0 % less.", answer.margin_percent);
}

std::string CostText(const fit::StepCost& before, const fit::StepCost& after) {
  std::vector<std::string> costs;
  const std::string launches = Ratio(before.kernel_launches, after.kernel_launches);
  if (!launches.empty()) costs.push_back(Message("$0 times the kernel launches", launches));
  const std::string arithmetic = Ratio(before.product_operations, after.product_operations);
  if (!arithmetic.empty())
    costs.push_back(Message("$0 times the arithmetic of matrix products", arithmetic));
  const auto more = [](uint64_t was, uint64_t is) { return is - std::min(is, was); };
  constexpr uint64_t kTold = uint64_t{1} << 20;
  if (const uint64_t copied = more(before.host_copy_bytes, after.host_copy_bytes); copied >= kTold)
    costs.push_back(Message("$0 more copied between host and card", FormatBytes(copied)));
  if (const uint64_t held = more(before.host_memory_bytes, after.host_memory_bytes); held >= kTold)
    costs.push_back(Message("$0 more page-locked in the host", FormatBytes(held)));
  const bool sends_otherwise = !IsNear(before.sent_bytes, after.sent_bytes) ||
                               !IsNear(before.sent_bytes_network, after.sent_bytes_network);
  if (sends_otherwise && after.sent_bytes + after.sent_bytes_network > 0)
    costs.push_back(Message("sends $0", SentText(after)));
  return absl::StrJoin(costs, ", ");
}

Section RemedySection(const Answer& answer) {
  Section section{.id = "remedies",
                  .title = Message("TRIED"),
                  .subtitle = Message("each by a run on the card")};
  Table table;
  table.columns = {
      {"", kNameWidth + 4}, {"", 26}, {Message("reserved"), 12, TableColumn::Kind::kFigure}};
  table.columns[1].title = FirstStepsText(answer);
  if (answer.unlimited.time())
    table.columns.push_back({Message("estimated time"), 16, TableColumn::Kind::kFigure});
  std::string nothing;
  size_t combinations = 0;  // combinations that do not fit either
  for (const TriedRemedy& remedy : answer.remedies) {
    if (remedy.changes.size() > 1 && !remedy.outcome.fits()) {
      ++combinations;
    } else if (remedy.had_effect) {
      table.rows.push_back(RowOf(table.rows.size() + 1, answer, remedy));
    } else {
      nothing += (nothing.empty() ? "" : ", ") + NameText(remedy);
    }
  }
  if (combinations > 0)
    table.rest = CountedMessage(combinations, "1 combination did not fit",
                                "$0 combinations did not fit", FormatCount(combinations));
  if (table.rows.empty()) return section;
  section.parts.emplace_back(std::move(table));
  for (std::string& note : TimeNotes(answer)) section.parts.emplace_back(Note{std::move(note)});
  if (!nothing.empty())
    section.parts.emplace_back(Note{Message("These found nothing to change: $0.", nothing)});
  if (const std::string useless = UselessNames(answer); !useless.empty())
    section.parts.emplace_back(Note{Message(
        "These were not run, because they save memory only where there is enough: $0.", useless)});
  return section;
}

Section UntriedSection(const Answer& answer) {
  Section section{.id = "not_tried", .title = Message("NOT TRIED")};
  Facts facts;
  bool has_edit = false;
  for (const fit::UntriedRemedy& remedy : answer.untried) {
    const bool is_edit = remedy.package.empty();
    has_edit = has_edit || is_edit;
    const std::string why =
        is_edit ? Message("It is a change of the script: $0.", Printable(MessageOf(remedy.change)))
                : Message("$0 is not installed (pip install $0).", Printable(remedy.package));
    facts.rows.push_back({.label = Printable(MessageOf(remedy.name)), .text = why});
  }
  if (facts.rows.empty()) return section;
  section.parts.emplace_back(std::move(facts));
  if (has_edit)
    section.parts.emplace_back(
        Note{Message("memtrace fit does not edit your script. If an option of the script makes "
                     "such a change, --vary tries it.")});
  return section;
}

Section RecommendedSection(const Answer& answer) {
  Section section{.id = "recommended", .title = Message("RECOMMENDED")};
  if (answer.fits() || answer.remedies.empty()) return section;
  if (!answer.recommended) {
    section.parts = {Paragraph{NothingFitsText(answer)}};
    return section;
  }
  const TriedRemedy& remedy = answer.remedies[*answer.recommended];
  section.parts = {
      Paragraph{answer.has_plan() ? TextOfPlan(answer) : SmallestText(answer, remedy)}};
  for (const fit::Candidate& change : remedy.changes)
    section.parts.emplace_back(Paragraph{.text = ChangeText(answer, change), .depth = 1});
  if (const TriedRemedy* other = UntimedChange(answer, remedy)) {
    section.parts.emplace_back(Paragraph{
        Message("$0: fits as well, with $1 reserved, and is less work. Its time is not estimated.",
                NameText(*other), FormatBytes(MostReserved(other->outcome)))});
    section.parts.emplace_back(
        Paragraph{.text = ChangeText(answer, other->changes.front()), .depth = 1});
  }
  return section;
}

}  // namespace memtrace::report
