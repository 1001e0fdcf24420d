// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/others_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::OtherGroup;
using analysis::OtherProcess;
using nlohmann::ordered_json;
using Relation = OtherProcess::Relation;

// Returns "4 DataLoader workers" or "rank 1".
std::string NameOf(const OtherGroup& group) {
  const size_t count = group.processes.size();
  const std::string number = FormatCount(count);
  switch (group.relation) {
    case Relation::kDataWorker:
      return CountedMessage(count, "1 DataLoader worker", "$0 DataLoader workers", number);
    case Relation::kWorker:
      return CountedMessage(count, "1 worker process", "$0 worker processes", number);
    case Relation::kParent:
      return CountedMessage(count, "the parent process", "$0 parent processes", number);
    case Relation::kRank:
      return Message("rank $0", Printable(group.rank));
    case Relation::kProcess:
      return CountedMessage(count, "1 process of this launch", "$0 processes of this launch",
                            number);
  }
  return "";
}

bool AreOfThisProgram(const OtherGroup& group) {
  return group.relation == Relation::kDataWorker || group.relation == Relation::kWorker;
}

// True if the process holds only a context: by its own trace, else if it is exactly as large as
// ours.
bool IsContextAlone(const OtherProcess& process, const CardExplanation& card) {
  if (process.holds) return process.holds->context >= process.bytes;
  const uint64_t context = card.ledger.positive(analysis::LedgerPart::kContext);
  return context > 0 && process.bytes == context;
}

bool AreContextsAlone(const OtherGroup& group, const CardExplanation& card) {
  return std::all_of(
      group.processes.begin(), group.processes.end(),
      [&card](const OtherProcess* process) { return IsContextAlone(*process, card); });
}

// Returns "520.0 MiB each"; empty if the processes are not equally large, or if there is one.
std::string EachText(const OtherGroup& group) {
  const uint64_t first = group.processes.front()->bytes;
  const bool are_alike =
      group.processes.size() > 1 &&
      std::all_of(group.processes.begin(), group.processes.end(),
                  [first](const OtherProcess* process) { return process->bytes == first; });
  return are_alike ? Message("$0 each", FormatBytes(first)) : "";
}

// Names the largest holding of the largest of them, from its own trace.
std::string LargestText(const OtherGroup& group) {
  const auto largest = std::max_element(
      group.processes.begin(), group.processes.end(),
      [](const OtherProcess* a, const OtherProcess* b) { return a->bytes < b->bytes; });
  const auto& holds = (*largest)->holds;
  if (!holds || holds->largest.empty()) return "";
  const std::string_view holding = holds->largest;  // its role and its site
  const size_t blank = holding.find(' ');
  return Message("largest: $0 at $1, $2", RoleWords(holding.substr(0, blank)),
                 SiteWords(holding.substr(blank + 1)), FormatBytes(holds->largest_bytes));
}

std::string RemarkOf(const OtherGroup& group, const CardExplanation& card) {
  std::vector<std::string> remarks = {EachText(group)};
  if (AreContextsAlone(group, card))
    remarks.push_back(CountedMessage(group.processes.size(), "only a context", "only contexts"));
  remarks.push_back(LargestText(group));
  std::erase(remarks, "");
  return absl::StrJoin(remarks, ", ");
}

uint64_t Strangers(const CardExplanation& card) {
  const uint64_t others = card.ledger.positive(analysis::LedgerPart::kOtherProcesses);
  return others - analysis::BytesOfLaunch(card.others, others);
}

// Returns "4 DataLoader workers of this program hold 2.03 GiB of the card".
std::string HoldsText(const OtherGroup& group) {
  const std::string name = NameOf(group);
  const std::string bytes = FormatBytes(group.bytes);
  const std::string pid = Printable(group.processes.front()->pid);
  const bool is_one = group.processes.size() == 1;
  if (AreOfThisProgram(group)) {
    return is_one
               ? Message("$0 of this program (process $1) holds $2 of the card", name, pid, bytes)
               : Message("$0 of this program hold $1 of the card", name, bytes);
  }
  return is_one ? Message("$0 (process $1) holds $2 of the card", name, pid, bytes)
                : Message("$0 hold $1 of the card", name, bytes);
}

std::string ClauseOf(const OtherGroup& group, const CardExplanation& card) {
  const std::string remark = RemarkOf(group, card);
  return remark.empty() ? HoldsText(group) : Message("$0 ($1)", HoldsText(group), remark);
}

}  // namespace

std::vector<OtherRow> OtherRows(const CardExplanation& card) {
  std::vector<OtherRow> rows;
  if (card.others.empty()) return rows;
  uint64_t left = card.ledger.positive(analysis::LedgerPart::kOtherProcesses);
  for (const OtherGroup& group : analysis::GroupOthers(card.others)) {
    const uint64_t bytes = std::min(group.bytes, left);
    rows.push_back({NameOf(group), bytes, RemarkOf(group, card)});
    left -= bytes;
  }
  if (left > 0) rows.push_back({Message("other programs"), left, ""});
  return rows;
}

std::string OthersClause(const CardExplanation& card) {
  std::vector<std::string> clauses;
  for (const OtherGroup& group : analysis::GroupOthers(card.others))
    clauses.push_back(ClauseOf(group, card));
  if (clauses.empty()) return "";
  const uint64_t strangers = Strangers(card);
  if (strangers > 0) clauses.push_back(Message("other programs hold $0", FormatBytes(strangers)));
  return Capitalized(absl::StrJoin(clauses, "; "));
}

ordered_json OthersJson(const CardExplanation& card) {
  ordered_json launch = ordered_json::array();
  for (const OtherProcess& process : card.others) {
    const std::vector<OtherProcess> alone = {process};
    ordered_json row = {{"pid", process.pid},
                        {"name", NameOf(analysis::GroupOthers(alone).front())},
                        {"rank", process.rank},
                        {"bytes", process.bytes},
                        {"holds", nullptr}};
    if (process.holds) {
      row["holds"] = {{"trace", process.holds->file},
                      {"context", process.holds->context},
                      {"live", process.holds->live},
                      {"largest", process.holds->largest},
                      {"largest_bytes", process.holds->largest_bytes}};
    }
    launch.push_back(std::move(row));
  }
  return {{"launch", launch}, {"strangers", Strangers(card)}};
}

}  // namespace memtrace::report
