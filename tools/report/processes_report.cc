// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/processes_report.h"

#include <algorithm>
#include <utility>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/run_header.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::Outlier;
using analysis::ProcessView;
using nlohmann::ordered_json;
using Views = std::vector<ProcessView>;

constexpr size_t kRows = 64;
constexpr size_t kRanksNamed = 16;

// Returns "rank 3", or the file if it has no rank.
std::string NameOf(const ProcessView& view) {
  return view.run.rank.empty() ? Printable(view.file)
                               : Message("rank $0", Printable(view.run.rank));
}

size_t Unreadable(const Views& views) {
  return static_cast<size_t>(std::count_if(
      views.begin(), views.end(), [](const ProcessView& view) { return !view.is_readable(); }));
}

size_t Failed(const Views& views) {
  return static_cast<size_t>(std::count_if(views.begin(), views.end(), [](const ProcessView& view) {
    return view.first_failure.has_value();
  }));
}

// Returns the fullest process: by its share of the card if card sizes are known, else by its peak.
const ProcessView* Fullest(const Views& views) {
  const ProcessView* fullest = nullptr;
  const auto fullness = [](const ProcessView& view) {
    const double total = static_cast<double>(std::max<uint64_t>(view.card_bytes, 1));
    return std::pair(view.card_bytes == 0 ? 0 : static_cast<double>(view.peak) / total, view.peak);
  };
  for (const ProcessView& view : views) {
    if (!view.is_readable()) continue;
    if (fullest == nullptr || fullness(*fullest) < fullness(view)) fullest = &view;
  }
  return fullest;
}

std::string FullestText(const ProcessView& view) {
  const std::string position = DescribePosition(view.peak_at);
  if (view.card_bytes == 0) {
    return Message("The fullest was $0: its peak of $1 requested was $2.", NameOf(view),
                   FormatBytes(view.peak), position);
  }
  return Message("The fullest was $0: its peak of $1 requested, on a card of $2, was $3.",
                 NameOf(view), FormatBytes(view.peak), FormatBytes(view.card_bytes), position);
}

// The words of a cause as a sentence and in a cell.
struct CauseWords {
  std::string_view sentence;
  std::string_view cell;
};

CauseWords CauseWordsOf(trace::FailureCause cause) {
  using Cause = trace::FailureCause;
  switch (cause) {
    case Cause::kLimit:
      return {Marked("It reached its memory limit."), Marked("limit reached")};
    case Cause::kTooLarge:
      return {Marked("One request was too large."), Marked("too large")};
    case Cause::kCached:
      return {Marked("Its cache would have sufficed."), Marked("cache kept")};
    case Cause::kOtherProcess:
      return {Marked("Other processes held the card."), Marked("card taken")};
    case Cause::kStreamWait:
      return {Marked("Memory was waiting for streams."), Marked("stream wait")};
    case Cause::kFragmentation:
      return {Marked("The card was fragmented."), Marked("fragmented")};
    case Cause::kCapacity:
      return {Marked("The card was full."), Marked("card full")};
    case Cause::kNone:
      break;
  }
  return {Marked("The cause is not known."), Marked("cause not known")};
}

std::string FirstFailureText(const ProcessView& view) {
  const analysis::FirstFailure& failure = *view.first_failure;
  const std::string requested = FormatBytes(failure.verdict.requested);
  return JoinedSentences(
      {Message("The first was $0, $1 after the first trace began, $2.", NameOf(view),
               FormatSeconds(failure.job_ns), DescribePosition(failure.at)),
       MessageOf(CauseWordsOf(failure.verdict.cause).sentence),
       failure.verdict.short_by == 0 ? Message("Its request for $0 failed.", requested)
                                     : Message("Its request for $0 failed ($1 short).", requested,
                                               FormatBytes(failure.verdict.short_by))});
}

std::string VerdictOf(const Views& views) {
  const size_t readable = views.size() - Unreadable(views);
  const auto first = FirstToFail(views);
  if (!first) {
    const ProcessView* fullest = Fullest(views);
    if (fullest == nullptr) return Message("None of the traces can be read.");
    return JoinedSentences(
        {CountedMessage(readable,
                        "The only process whose trace can be read did not run out of memory.",
                        "None of $0 processes ran out of memory.", FormatCount(readable)),
         FullestText(*fullest)});
  }
  return JoinedSentences(
      {Message("$0 of $1 processes ran out of memory.", FormatCount(Failed(views)),
               FormatCount(readable)),
       FirstFailureText(views[*first]),
       Failed(views) > 1 ? Message("The others may have failed because of it.") : ""});
}

std::string Missing(const Views& views) {
  const std::vector<uint64_t> missing = MissingRanks(views);
  if (missing.empty()) return "";
  std::string names;
  for (size_t i = 0; i < missing.size() && i < kRanksNamed; ++i)
    names += (names.empty() ? "" : ", ") + std::to_string(missing[i]);
  if (missing.size() > kRanksNamed)
    names = Message("$0 and $1 more", names, FormatCount(missing.size() - kRanksNamed));
  return CountedMessage(missing.size(), "MISSING: there is no readable trace of 1 rank: $0",
                        "MISSING: there are no readable traces of $1 ranks: $0", names,
                        FormatCount(missing.size()));
}

std::string VirtualText(const Views& views) {
  const uint64_t ranks = VirtualRanks(views);
  if (ranks == 0) return "";
  return CountedMessage(ranks, "1 more rank of the job was virtual: it was not started.",
                        "$0 more ranks of the job were virtual: they were not started.",
                        FormatCount(ranks));
}

// Returns "0.49", or "0.98 on 2" cards. A rank usually has a context on its own card only.
std::string ContextText(const ProcessView& view, TableUnit unit) {
  if (view.contexts.empty()) return "?";
  const std::string bytes = FormatFigure(view.context_bytes(), unit);
  return view.contexts.size() == 1 ? bytes : Message("$0 on $1", bytes, view.contexts.size());
}

TableRow RowOf(const ProcessView& view, TableUnit unit) {
  const std::string rank = view.run.rank.empty() ? "-" : Printable(view.run.rank);
  if (!view.is_readable())
    return {.cells = {rank, "", "", "", Message("unreadable"), Printable(view.file)},
            .below = {Printable(view.unreadable)}};
  std::string state =
      view.peak_at.step == 0 ? Message("start") : Message("step $0", view.peak_at.step);
  if (view.first_failure) {
    state =
        Message("$0, step $1, $2", MessageOf(CauseWordsOf(view.first_failure->verdict.cause).cell),
                view.first_failure->at.step, FormatSeconds(view.first_failure->job_ns));
  }
  TableRow row{.cells = {rank, FormatFigure(view.peak, unit),
                         view.card_bytes == 0 ? "?" : FormatFigure(view.card_bytes, unit),
                         ContextText(view, unit), state, Printable(view.file)}};
  if (!view.run.completeness.whole()) row.below.push_back(PartialBanner(view.run.completeness));
  return row;
}

Section ProcessSection(const Views& views) {
  uint64_t largest = 0;
  for (const ProcessView& view : views) largest = std::max({largest, view.peak, view.card_bytes});
  const TableUnit unit = UnitFor(largest);
  Table table;
  table.columns = {{"", 9},
                   {Message("peak $0", unit.name), 9, TableColumn::Kind::kFigure},
                   {Message("card"), 8, TableColumn::Kind::kFigure},
                   {Message("contexts"), 12, TableColumn::Kind::kFigure},
                   {Message("out of memory, or peak"), 32},
                   {Message("trace"), 0, TableColumn::Kind::kPath}};
  for (size_t i = 0; i < views.size() && i < kRows; ++i)
    table.rows.push_back(RowOf(views[i], unit));
  if (views.size() > kRows) table.rest = Message("$0 more", FormatCount(views.size() - kRows));
  return {.id = "processes", .title = Message("RANK"), .parts = {std::move(table)}};
}

std::string Differences(const Outlier& outlier) {
  constexpr size_t kRoles = 3;
  std::string text;
  for (size_t i = 0; i < outlier.roles.size() && i < kRoles; ++i) {
    const auto& [role, more] = outlier.roles[i];
    text += (text.empty() ? "" : ", ") + RoleWords(role) + " " + (more > 0 ? "+" : "") +
            FormatSignedBytes(more);
  }
  return text;
}

Section OutlierSection(const Views& views) {
  Section section{.id = "outliers",
                  .title = Message("NOT LIKE THE OTHERS"),
                  .subtitle = Message("by peak; differences from the median of each role")};
  Facts facts;
  for (const Outlier& outlier : FindOutliers(views)) {
    facts.rows.push_back(
        {NameOf(views[outlier.process]),
         Message("$0, the median is $1: $2", FormatBytes(views[outlier.process].peak),
                 FormatBytes(outlier.median), Differences(outlier))});
  }
  if (!facts.rows.empty()) section.parts.emplace_back(std::move(facts));
  return section;
}

ordered_json ViewJson(const ProcessView& view) {
  const auto text = [](const std::string& of) {
    return of.empty() ? ordered_json(nullptr) : ordered_json(of);
  };
  ordered_json json = {{"file", view.file}, {"readable", view.is_readable()}};
  if (!view.is_readable()) {
    json["reason"] = view.unreadable;
    return json;
  }
  json["rank"] = text(view.run.rank);
  json["host"] = text(view.run.host);
  json["process"] = text(view.run.process);
  json["whole"] = view.run.completeness.whole();
  json["card"] = {{"index", view.card}, {"bytes", view.card_bytes}, {"peak", view.peak}};
  json["contexts"] = ordered_json::array();
  for (const auto& [card, bytes] : view.contexts)
    json["contexts"].push_back({{"card", card}, {"bytes", bytes}});
  json["by_role"] = ordered_json::array();
  for (const analysis::Share& share : view.by_role)
    json["by_role"].push_back({{"name", share.name}, {"bytes", share.bytes}});
  json["out_of_memory"] = view.failures;
  json["first_failure"] = nullptr;
  if (!view.first_failure) return json;
  const analysis::FirstFailure& failure = *view.first_failure;
  json["first_failure"] = {{"time_ns", failure.job_ns},
                           {"step", failure.at.step},
                           {"phase", std::string(PhaseName(failure.at.phase))},
                           {"cause", std::string(trace::FailureCauseName(failure.verdict.cause))},
                           {"bytes", failure.verdict.requested},
                           {"short_by", failure.verdict.short_by}};
  return json;
}

}  // namespace

Document ProcessesDocument(const std::string& folder, const Views& views) {
  std::string unreadable;
  if (const size_t count = Unreadable(views); count > 0) {
    unreadable = CountedMessage(count, "1 of them is UNREADABLE", "$0 of them are UNREADABLE",
                                FormatCount(count));
  }
  Document document = {{.id = "run",
                        .parts = {Clauses{{Printable(folder),
                                           CountedMessage(views.size(), "1 trace", "$0 traces",
                                                          FormatCount(views.size())),
                                           unreadable}}}}};
  if (const std::string missing = Missing(views); !missing.empty())
    document.push_back({.id = "missing", .parts = {Paragraph{missing}}});
  document.push_back(
      {.id = "verdict",
       .parts = {Paragraph{JoinedSentences({VerdictOf(views), VirtualText(views)})}}});
  for (const Section& section : {OutlierSection(views), ProcessSection(views)})
    if (!section.parts.empty()) document.push_back(section);
  return document;
}

std::string JsonProcesses(const std::string& folder, const Views& views) {
  ordered_json processes = ordered_json::array();
  for (const ProcessView& view : views) processes.push_back(ViewJson(view));
  ordered_json outliers = ordered_json::array();
  for (const Outlier& outlier : FindOutliers(views)) {
    ordered_json roles = ordered_json::array();
    for (const auto& [role, more] : outlier.roles)
      roles.push_back({{"name", role}, {"difference", more}});
    outliers.push_back({{"file", views[outlier.process].file},
                        {"peak", views[outlier.process].peak},
                        {"median", outlier.median},
                        {"roles", roles}});
  }
  const auto first = FirstToFail(views);
  return JsonText({{"schema", "memtrace.processes/1"},
                   {"folder", folder},
                   {"first_to_fail", first ? ordered_json(views[*first].file) : ordered_json()},
                   {"missing_ranks", MissingRanks(views)},
                   {"virtual_ranks", VirtualRanks(views)},
                   {"outliers", outliers},
                   {"processes", processes}});
}

}  // namespace memtrace::report
