// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/others_text.h"

#include <algorithm>
#include <utility>

#include "nlohmann/json.hpp"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::CardExplanation;
using analysis::OtherGroup;
using analysis::OtherProcess;
using nlohmann::ordered_json;
using Relation = OtherProcess::Relation;

std::string Counted(size_t count, const std::string& one, const std::string& many) {
  return count == 1 ? one : FormatCount(count) + " " + many;
}

// Returns "4 DataLoader workers" or "rank 1".
std::string NameOf(const OtherGroup& group) {
  const size_t count = group.processes.size();
  switch (group.relation) {
    case Relation::kDataWorker:
      return Counted(count, "1 DataLoader worker", "DataLoader workers");
    case Relation::kWorker:
      return Counted(count, "1 worker process", "worker processes");
    case Relation::kParent:
      return Counted(count, "the parent process", "parent processes");
    case Relation::kRank:
      return "rank " + Printable(group.rank);
    case Relation::kProcess:
      return Counted(count, "1 process of this launch", "processes of this launch");
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

// Returns "520.0 MiB each, a context"; for one process "a context".
std::string EachText(const OtherGroup& group, const CardExplanation& card) {
  const uint64_t first = group.processes.front()->bytes;
  const bool are_alike =
      group.processes.size() > 1 &&
      std::all_of(group.processes.begin(), group.processes.end(),
                  [first](const OtherProcess* process) { return process->bytes == first; });
  std::string text = are_alike ? FormatBytes(first) + " each" : "";
  if (AreContextsAlone(group, card)) text += (text.empty() ? "" : ", ") + std::string("a context");
  return text;
}

// Names what the largest of them holds, from its own trace.
std::string LargestText(const OtherGroup& group) {
  const auto largest = std::max_element(
      group.processes.begin(), group.processes.end(),
      [](const OtherProcess* a, const OtherProcess* b) { return a->bytes < b->bytes; });
  const auto& holds = (*largest)->holds;
  if (!holds || holds->largest.empty()) return "";
  return "most of it " + Printable(holds->largest) + ", " + FormatBytes(holds->largest_bytes);
}

std::string RemarkOf(const OtherGroup& group, const CardExplanation& card) {
  std::string text = EachText(group, card);
  const std::string largest = LargestText(group);
  if (!largest.empty()) text += (text.empty() ? "" : "; ") + largest;
  return text;
}

uint64_t Strangers(const CardExplanation& card) {
  const uint64_t others = card.ledger.positive(analysis::LedgerPart::kOtherProcesses);
  return others - analysis::BytesOfLaunch(card.others, others);
}

std::string ClauseOf(const OtherGroup& group, const CardExplanation& card) {
  const std::string remark = RemarkOf(group, card);
  const bool is_one = group.processes.size() == 1;
  return NameOf(group) + (AreOfThisProgram(group) ? " of this program" : "") +
         (is_one ? " (process " + Printable(group.processes.front()->pid) + ") holds " : " hold ") +
         FormatBytes(group.bytes) + " of the card" + (remark.empty() ? "" : " (" + remark + ")");
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
  if (left > 0) rows.push_back({"other programs", left, ""});
  return rows;
}

std::string OthersClause(const CardExplanation& card) {
  std::string text;
  for (const OtherGroup& group : analysis::GroupOthers(card.others))
    text += (text.empty() ? "" : "; ") + ClauseOf(group, card);
  if (text.empty()) return text;
  const uint64_t strangers = Strangers(card);
  return Capitalized(std::move(text)) +
         (strangers > 0 ? "; other programs hold " + FormatBytes(strangers) : "");
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
