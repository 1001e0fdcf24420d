// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/remedy_table.h"

#include <utility>

#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;

constexpr size_t kRemedies = 6;

// Says which step decides, if there are two.
std::string DecidingStepText(const Explanation& explanation, const analysis::Remedy& remedy,
                             uint64_t total) {
  if (!remedy.next_step || *remedy.next_step <= remedy.this_step) return "";
  const std::string next = "step " + std::to_string(explanation.cures.next_step->number);
  const std::string need = FormatBytes(*remedy.next_step);
  if (remedy.this_step <= total && *remedy.next_step > total) {
    return "fits this step (" + FormatBytes(remedy.this_step) + "); " + next + " needs " + need +
           ", because the states stay";
  }
  return "from " + next + " on, because the states stay: " + need + " (this one " +
         FormatBytes(remedy.this_step) + ")";
}

// True if the need comes from a replay, which ends with the recording: at the request that failed.
bool IsReplayed(const analysis::Remedy& remedy) { return remedy.how_known == "replayed"; }

std::string NeedText(const analysis::Remedy& remedy, const analysis::Ledger& ledger) {
  const std::string need = FormatBytes(remedy.need());
  const bool asks_for_more = remedy.effort == analysis::Effort::kMoney;
  if (ledger.total_known && remedy.need() > ledger.total && !asks_for_more)
    return "not enough: " + need;
  if (remedy.at_least) return "at least " + need;
  return need + (ledger.total_known && !asks_for_more ? ", fits" : "");
}

TableRow RowOf(size_t number, const Explanation& explanation, const analysis::Remedy& remedy) {
  const analysis::Ledger& ledger = explanation.card_of_verdict().ledger;
  const std::string cost = remedy.cost.empty() ? "" : "; costs: " + remedy.cost;
  TableRow row{.cells = {std::to_string(number) + " " + Printable(remedy.name),
                         NeedText(remedy, ledger), std::string(remedy.how_known)},
               .below = {Printable(remedy.change + cost)}};
  if (IsReplayed(remedy) && remedy.at_least)
    row.below.emplace_back(
        "It serves this request; what the program requests after it was not recorded. memtrace fit "
        "runs it.");
  const std::string deciding = DecidingStepText(explanation, remedy, ledger.total);
  if (!deciding.empty()) row.below.push_back(deciding);
  return row;
}

}  // namespace

Section RemedySection(const Explanation& explanation) {
  Section section{
      .id = "remedies",
      .title = explanation.failure.request ? "WHAT WOULD HELP" : "WHAT WOULD TAKE LESS"};
  if (explanation.cures.remedies.empty()) return section;
  Table table;
  table.columns = {{"", 28}, {"need of the card", 22}, {"how known", 10}};
  for (const analysis::Remedy& remedy : explanation.cures.remedies) {
    if (table.rows.size() == kRemedies) break;
    table.rows.push_back(RowOf(table.rows.size() + 1, explanation, remedy));
  }
  if (explanation.cures.remedies.size() > kRemedies)
    table.rest = FormatCount(explanation.cures.remedies.size() - kRemedies) + " more";
  section.parts.emplace_back(std::move(table));
  return section;
}

}  // namespace memtrace::report
