// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/remedy_table.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "messages/message.h"
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
  const std::string next = std::to_string(explanation.cures.next_step->number);
  const std::string this_need = FormatBytes(remedy.this_step);
  const std::string next_need = FormatBytes(*remedy.next_step);
  if (remedy.this_step <= total && *remedy.next_step > total) {
    return Message("This step would fit ($0), but step $1 needs $2, because the states stay.",
                   this_need, next, next_need);
  }
  return Message("This step needs $0; from step $1 on it is $2, because the states stay.",
                 this_need, next, next_need);
}

// True if the need comes from a replay, which ends with the recording: at the request that failed.
bool IsReplayed(const analysis::Remedy& remedy) { return remedy.how_known == "replayed"; }

std::string HowKnownText(const analysis::Remedy& remedy) {
  if (IsReplayed(remedy)) return Message("replayed");
  return remedy.how_known == "exact" ? Message("exact") : Message("estimated");
}

std::string NeedText(const analysis::Remedy& remedy, const analysis::Ledger& ledger) {
  const std::string need = FormatBytes(remedy.need());
  const bool asks_for_more = remedy.effort == analysis::Effort::kMoney;
  if (ledger.total_known && remedy.need() > ledger.total && !asks_for_more)
    return Message("$0: not enough", need);
  if (remedy.at_least) return Message("at least $0", need);
  return ledger.total_known && !asks_for_more ? Message("$0: fits", need) : need;
}

TableRow RowOf(size_t number, const Explanation& explanation, const analysis::Remedy& remedy) {
  const analysis::Ledger& ledger = explanation.card_of_verdict().ledger;
  const std::string change = Printable(MessageOf(remedy.change));
  TableRow row{.cells = {std::to_string(number) + " " + Printable(MessageOf(remedy.name)),
                         NeedText(remedy, ledger), HowKnownText(remedy)},
               .below = {change}};
  if (!remedy.cost.empty())
    row.below = {Message("$0 (costs: $1)", change, Printable(MessageOf(remedy.cost)))};
  return row;
}

void AddDetails(const Explanation& explanation, const analysis::Remedy& remedy, TableRow& row) {
  if (IsReplayed(remedy) && remedy.at_least) {
    row.below.push_back(
        Message("It serves this request. What the program requests after it was not recorded; "
                "memtrace fit runs it."));
  }
  const std::string deciding =
      DecidingStepText(explanation, remedy, explanation.card_of_verdict().ledger.total);
  if (!deciding.empty()) row.below.push_back(deciding);
}

Table RemedyTable(const Explanation& explanation, size_t most) {
  Table table;
  table.columns = {{"", 36}, {Message("card needs"), 26}, {Message("how known"), 10}};
  const std::vector<analysis::Remedy>& remedies = explanation.cures.remedies;
  for (size_t i = 0; i < std::min(most, remedies.size()); ++i)
    table.rows.push_back(RowOf(i + 1, explanation, remedies[i]));
  return table;
}

}  // namespace

Section RemedySection(const Explanation& explanation, size_t most) {
  Section section{.id = "cures"};
  if (explanation.cures.remedies.empty()) return section;
  section.title =
      explanation.failure.request ? Message("WHAT WOULD HELP") : Message("WHAT WOULD TAKE LESS");
  section.parts.emplace_back(RemedyTable(explanation, most));
  return section;
}

Section AllRemediesSection(const Explanation& explanation) {
  const std::vector<analysis::Remedy>& remedies = explanation.cures.remedies;
  Section section{.id = "remedies", .title = Message("ALL CHANGES")};
  if (remedies.empty()) return section;
  Table table = RemedyTable(explanation, kRemedies);
  for (size_t i = 0; i < table.rows.size(); ++i)
    AddDetails(explanation, remedies[i], table.rows[i]);
  if (remedies.size() > kRemedies) {
    const size_t left = remedies.size() - kRemedies;
    table.rest = CountedMessage(left, "1 more", "$0 more", FormatCount(left));
  }
  section.parts.emplace_back(std::move(table));
  return section;
}

}  // namespace memtrace::report
