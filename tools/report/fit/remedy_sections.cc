// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/remedy_sections.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "tools/fit/why_failed.h"
#include "tools/report/sections/verdict_text.h"
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
  if (outcome.is_late) return "not known: takes too long";
  if (!outcome.completed) return outcome.Failed() ? "does not" : "the program fails";
  if (outcome.verdict() == fit::FitVerdict::kWillNotFit)
    return "does not beyond step " + FormatCount(outcome.outlook.full_in_step - 1);
  if (!outcome.fits()) return "not known: still rises";
  if (remedy.has_margin && !*remedy.has_margin)
    return "fits, not with " + std::to_string(answer.margin_percent) + " % less";
  return "fits";
}

TableRow RowOf(size_t number, const Answer& answer, const TriedRemedy& remedy) {
  const std::string reserved =
      remedy.outcome.fits() ? FormatBytes(MostReserved(remedy.outcome)) : "";
  const std::string name = NameOf(remedy);
  const bool is_long = name.size() > kNameWidth;
  TableRow row{.cells = {std::to_string(number) + " " +
                             (is_long ? FormatCounted(remedy.changes.size(), "change") : name),
                         OutcomeText(answer, remedy), reserved}};
  if (is_long) row.below.push_back(name);
  for (const fit::Candidate& change : remedy.changes)
    row.below.push_back(Printable(change.change) + "; costs: " + change.cost);
  if (remedy.outcome.completed) {
    std::string counted = CostText(answer.unlimited.cost(), remedy.outcome.cost());
    if (!counted.empty()) row.below.push_back("counted in a step: " + std::move(counted));
  }
  if (const auto failed = remedy.outcome.Failed()) row.below.push_back(FailedText(*failed));
  const std::string why = fit::WhyFailed(remedy.outcome.log_end, true);
  if (!why.empty()) row.below.push_back(Printable(why));
  return row;
}

// Returns "kernel launches 1.9 times"; empty if it is the same.
std::string Ratio(const char* what, uint64_t before, uint64_t after) {
  if (before == 0 || after == 0) return "";
  const double ratio = static_cast<double>(after) / static_cast<double>(before);
  if (ratio > 0.99 && ratio < 1.01) return "";
  return absl::StrFormat("%s %.2f times", what, ratio);
}

}  // namespace

std::string NameOf(const TriedRemedy& remedy) {
  std::string name;
  for (const fit::Candidate& change : remedy.changes)
    name += (name.empty() ? "" : " + ") + Printable(change.name);
  return name;
}

std::string FailedText(const fit::FailedLine& failed) {
  return Printable(failed.line) + ", " + DescribePosition(failed.at) + ": " +
         FormatBytes(failed.bytes) + " asked" +
         (failed.short_by > 0 ? ", short by " + FormatBytes(failed.short_by) : "") +
         (failed.is_fragmentation ? "; free memory lies in pieces" : "");
}

std::string MarginText(const Answer& answer) {
  if (!answer.has_margin || answer.margin_percent == 0) return "";
  return (*answer.has_margin ? " It would also fit with " : " It would not fit with ") +
         std::to_string(answer.margin_percent) + " % less.";
}

std::string CostText(const fit::StepCost& before, const fit::StepCost& after) {
  std::vector<std::string> costs = {
      Ratio("kernel launches", before.kernel_launches, after.kernel_launches),
      Ratio("matrix products' arithmetic", before.product_operations, after.product_operations)};
  const uint64_t more =
      after.host_copy_bytes - std::min(after.host_copy_bytes, before.host_copy_bytes);
  constexpr uint64_t kTold = uint64_t{1} << 20;
  if (more >= kTold) costs.push_back(FormatBytes(more) + " more between host and card");
  std::string text;
  for (const std::string& cost : costs)
    if (!cost.empty()) text += (text.empty() ? "" : ", ") + cost;
  return text;
}

Section RemedySection(const Answer& answer) {
  Section section{.id = "remedies", .title = "TRIED", .subtitle = "each by a run on the card"};
  Table table;
  table.columns = {{"", kNameWidth + 4}, {"", 26}, {"reserved", 12, TableColumn::Kind::kFigure}};
  std::string nothing;
  size_t combinations = 0;  // combinations that do not fit either
  for (const TriedRemedy& remedy : answer.remedies) {
    if (remedy.changes.size() > 1 && !remedy.outcome.fits()) {
      ++combinations;
    } else if (remedy.had_effect) {
      table.rows.push_back(RowOf(table.rows.size() + 1, answer, remedy));
    } else {
      nothing += (nothing.empty() ? "" : ", ") + NameOf(remedy);
    }
  }
  if (combinations > 0) table.rest = FormatCounted(combinations, "combination") + " did not fit";
  if (table.rows.empty()) return section;
  section.parts.emplace_back(std::move(table));
  if (!nothing.empty()) section.parts.emplace_back(Note{"nothing to change for: " + nothing});
  return section;
}

Section RecommendedSection(const Answer& answer) {
  Section section{.id = "recommended", .title = "RECOMMENDED"};
  if (answer.fits() || answer.remedies.empty()) return section;
  if (!answer.recommended && answer.stopped) {
    section.parts = {Paragraph{"none of those tried until then makes it fit"}};
    return section;
  }
  if (!answer.recommended) {
    section.parts = {Paragraph{
        "none of these makes it fit; let options of the script vary (--vary), or take a larger "
        "card (--smallest-card says which)"}};
    return section;
  }
  const TriedRemedy& remedy = answer.remedies[*answer.recommended];
  std::string text = NameOf(remedy) + ": the smallest change with which nothing failed on the card";
  const std::string margin = std::to_string(answer.margin_percent);
  if (answer.margin_percent > 0 && remedy.has_margin.value_or(false)) {
    text += " and on one that is " + margin + " % smaller";
  } else if (answer.margin_percent > 0) {
    text += "; with nothing tried that is so on one that is " + margin + " % smaller";
  }
  section.parts = {Paragraph{std::move(text)}};
  return section;
}

}  // namespace memtrace::report
