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

using analysis::CardExplanation;
using analysis::ExplainedCures;
using analysis::ExplainedFailure;

constexpr size_t kRemedies = 6;

// Says which step decides, if there are two.
std::string DecidingStepText(const ExplainedCures& cures, const analysis::Remedy& remedy,
                             uint64_t total) {
  if (!remedy.next_step || *remedy.next_step <= remedy.this_step) return "";
  const std::string next = std::to_string(cures.next_step->number);
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

TableRow RowOf(size_t number, const analysis::Ledger& ledger, const analysis::Remedy& remedy) {
  const std::string change = Printable(MessageOf(remedy.change));
  TableRow row{.cells = {std::to_string(number) + " " + Printable(MessageOf(remedy.name)),
                         NeedText(remedy, ledger), HowKnownText(remedy)},
               .below = {change}};
  if (!remedy.cost.empty())
    row.below = {Message("$0 (costs: $1)", change, Printable(MessageOf(remedy.cost)))};
  return row;
}

void AddDetails(const ExplainedCures& cures, uint64_t total, const analysis::Remedy& remedy,
                TableRow& row) {
  if (IsReplayed(remedy) && remedy.at_least) {
    row.below.push_back(
        Message("It serves this request. What the program requests after it was not recorded; "
                "memtrace fit runs it."));
  }
  const std::string deciding = DecidingStepText(cures, remedy, total);
  if (!deciding.empty()) row.below.push_back(deciding);
}

Table RemedyTable(const analysis::Ledger& ledger, const std::vector<analysis::Remedy>& remedies,
                  size_t most) {
  Table table;
  table.columns = {{"", 36}, {Message("card needs"), 26}, {Message("how known"), 10}};
  for (size_t i = 0; i < std::min(most, remedies.size()); ++i)
    table.rows.push_back(RowOf(i + 1, ledger, remedies[i]));
  return table;
}

}  // namespace

Section RemedySection(const CardExplanation& card, const ExplainedCures& cures,
                      const ExplainedFailure& failure, size_t most) {
  Section section{.id = "cures"};
  if (cures.remedies.empty()) return section;
  section.title = failure.request ? Message("WHAT WOULD HELP") : Message("WHAT WOULD TAKE LESS");
  section.parts.emplace_back(RemedyTable(card.ledger, cures.remedies, most));
  return section;
}

Section AllRemediesSection(const CardExplanation& card, const ExplainedCures& cures) {
  const std::vector<analysis::Remedy>& remedies = cures.remedies;
  Section section{.id = "remedies", .title = Message("ALL CHANGES")};
  if (remedies.empty()) return section;
  Table table = RemedyTable(card.ledger, remedies, kRemedies);
  for (size_t i = 0; i < table.rows.size(); ++i)
    AddDetails(cures, card.ledger.total, remedies[i], table.rows[i]);
  if (remedies.size() > kRemedies) {
    const size_t left = remedies.size() - kRemedies;
    table.rest = CountedMessage(left, "1 more", "$0 more", FormatCount(left));
  }
  section.parts.emplace_back(std::move(table));
  return section;
}

}  // namespace memtrace::report
