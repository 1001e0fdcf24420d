// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/processes_report.h"

#include <algorithm>
#include <utility>

#include "nlohmann/json.hpp"
#include "tools/report/run_header.h"
#include "tools/report/sections/verdict_text.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

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
  return view.run.rank.empty() ? Printable(view.file) : "rank " + Printable(view.run.rank);
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

std::string PeakOf(const ProcessView& view) {
  return FormatBytes(view.peak) + " requested" +
         (view.card_bytes == 0 ? "" : " on a card of " + FormatBytes(view.card_bytes)) + ", " +
         DescribePosition(view.peak_at);
}

// The words of a cause in a sentence and in a cell.
struct CauseWords {
  std::string_view sentence;
  std::string_view cell;
};

CauseWords CauseWordsOf(trace::FailureCause cause) {
  using Cause = trace::FailureCause;
  switch (cause) {
    case Cause::kLimit:
      return {"its limit was reached", "limit"};
    case Cause::kTooLarge:
      return {"one request was too large", "too large"};
    case Cause::kCached:
      return {"its cache would have sufficed", "cached"};
    case Cause::kOtherProcess:
      return {"other processes had the card", "card taken"};
    case Cause::kStreamWait:
      return {"memory waited for streams", "stream wait"};
    case Cause::kFragmentation:
      return {"the card was fragmented", "fragmented"};
    case Cause::kCapacity:
      return {"the card was full", "card full"};
    case Cause::kNone:
      break;
  }
  return {"it completed", "completed"};
}

std::string VerdictOf(const Views& views) {
  const auto first = FirstToFail(views);
  if (!first) {
    const ProcessView* fullest = Fullest(views);
    if (fullest == nullptr) return "None of the traces can be read.";
    return "None of " + FormatCount(views.size() - Unreadable(views)) +
           " processes ran out of memory. The fullest was " + NameOf(*fullest) + ": its peak, " +
           PeakOf(*fullest) + ".";
  }
  const ProcessView& view = views[*first];
  const analysis::FirstFailure& failure = *view.first_failure;
  return FormatCount(Failed(views)) + " of " + FormatCount(views.size() - Unreadable(views)) +
         " processes ran out of memory. The first was " + NameOf(view) + ", " +
         FormatSeconds(failure.job_ns) + " after the first trace began, " +
         DescribePosition(failure.at) + ": " +
         std::string(CauseWordsOf(failure.verdict.cause).sentence) + ", " +
         FormatBytes(failure.verdict.requested) + " were asked, short by " +
         FormatBytes(failure.verdict.short_by) + "." +
         (Failed(views) > 1 ? " The others may have failed because of it." : "");
}

std::string Missing(const Views& views) {
  const std::vector<uint64_t> missing = MissingRanks(views);
  if (missing.empty()) return "";
  std::string names;
  for (size_t i = 0; i < missing.size() && i < kRanksNamed; ++i)
    names += (names.empty() ? "" : ", ") + std::to_string(missing[i]);
  if (missing.size() > kRanksNamed)
    names += ", … " + FormatCount(missing.size() - kRanksNamed) + " more";
  return "MISSING: of " + FormatCounted(missing.size(), "rank") + " there is no trace: " + names;
}

// Returns "0.49", or "0.98 on 2" cards. A rank usually has a context on its own card only.
std::string ContextText(const ProcessView& view, TableUnit unit) {
  if (view.contexts.empty()) return "?";
  const std::string bytes = FormatFigure(view.context_bytes(), unit);
  return view.contexts.size() == 1 ? bytes : bytes + " on " + std::to_string(view.contexts.size());
}

TableRow RowOf(const ProcessView& view, TableUnit unit) {
  const std::string rank = view.run.rank.empty() ? "-" : Printable(view.run.rank);
  if (!view.is_readable())
    return {.cells = {rank, "", "", "", "unreadable", Printable(view.file)},
            .below = {Printable(view.unreadable)}};
  std::string state =
      view.peak_at.step == 0 ? "start" : "step " + std::to_string(view.peak_at.step);
  if (view.first_failure) {
    state = std::string(CauseWordsOf(view.first_failure->verdict.cause).cell) + ", step " +
            std::to_string(view.first_failure->at.step) + ", " +
            FormatSeconds(view.first_failure->job_ns);
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
                   {"peak " + std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {"of", 8, TableColumn::Kind::kFigure},
                   {"contexts", 12, TableColumn::Kind::kFigure},
                   {"out of memory, or peak", 32},
                   {"trace", 0, TableColumn::Kind::kPath}};
  for (size_t i = 0; i < views.size() && i < kRows; ++i)
    table.rows.push_back(RowOf(views[i], unit));
  if (views.size() > kRows) table.rest = FormatCount(views.size() - kRows) + " more";
  return {.id = "processes", .title = "RANK", .parts = {std::move(table)}};
}

std::string Differences(const Outlier& outlier) {
  constexpr size_t kRoles = 3;
  std::string text;
  for (size_t i = 0; i < outlier.roles.size() && i < kRoles; ++i) {
    const auto& [role, more] = outlier.roles[i];
    text +=
        (text.empty() ? "" : ", ") + role + " " + (more > 0 ? "+" : "") + FormatSignedBytes(more);
  }
  return text;
}

Section OutlierSection(const Views& views) {
  Section section{.id = "outliers",
                  .title = "NOT LIKE THE OTHERS",
                  .subtitle = "by peak; differences from the median of each role"};
  Facts facts;
  for (const Outlier& outlier : FindOutliers(views)) {
    facts.rows.push_back({NameOf(views[outlier.process]),
                          FormatBytes(views[outlier.process].peak) + ", the median is " +
                              FormatBytes(outlier.median) + ": " + Differences(outlier)});
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
  const std::string unreadable =
      Unreadable(views) == 0 ? "" : FormatCount(Unreadable(views)) + " of them UNREADABLE";
  Document document = {
      {.id = "run",
       .parts = {Clauses{{Printable(folder), FormatCounted(views.size(), "trace"), unreadable}}}}};
  if (const std::string missing = Missing(views); !missing.empty())
    document.push_back({.id = "missing", .parts = {Paragraph{missing}}});
  document.push_back({.id = "verdict", .parts = {Paragraph{VerdictOf(views)}}});
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
                   {"outliers", outliers},
                   {"processes", processes}});
}

}  // namespace memtrace::report
