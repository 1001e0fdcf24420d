// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/processes_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/report/run_header.h"
#include "tools/report/sections/difference_table.h"
#include "tools/report/sections/kind_table.h"
#include "tools/report/verdict/job_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/rank_words.h"
#include "tools/report/words/text_document.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::Job;
using analysis::Outlier;
using analysis::ProcessView;
using Views = std::vector<ProcessView>;

constexpr size_t kRows = 64;
constexpr size_t kRanksNamed = 16;

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
    state = Message("$0, step $1, $2", CauseCell(view.first_failure->verdict.cause),
                    view.first_failure->at.step, FormatSeconds(view.first_failure->job_ns));
  }
  TableRow row{.cells = {rank, FormatFigure(view.peak, unit),
                         view.card_bytes == 0 ? "?" : FormatFigure(view.card_bytes, unit),
                         ContextText(view, unit), state, Printable(view.file)}};
  const trace::Completeness& completeness = view.run.completeness;
  if (!completeness.whole()) row.below.push_back(PartialBanner(completeness));
  if (!completeness.closed) row.below.push_back(NotClosedText(completeness));
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
        {ProcessName(views[outlier.process]),
         Message("$0, the median is $1: $2", FormatBytes(views[outlier.process].peak),
                 FormatBytes(outlier.median), Differences(outlier))});
  }
  if (!facts.rows.empty()) section.parts.emplace_back(std::move(facts));
  return section;
}

Section HeaderSection(const std::string& folder, const Job& job) {
  std::string unreadable;
  if (const size_t count = UnreadableProcesses(job); count > 0) {
    unreadable = CountedMessage(count, "1 of them is UNREADABLE", "$0 of them are UNREADABLE",
                                FormatCount(count));
  }
  const std::string traces = CountedMessage(job.processes.size(), "1 trace", "$0 traces",
                                            FormatCount(job.processes.size()));
  return {.id = "run", .parts = {Clauses{{Printable(folder), traces, unreadable}}}};
}

}  // namespace

Document JobSections(const std::string& folder, const Job& job, JobRows rows) {
  Document document = {HeaderSection(folder, job)};
  if (const std::string missing = Missing(job.processes); !missing.empty())
    document.push_back({.id = "missing", .parts = {Paragraph{missing}}});
  document.push_back({.id = "verdict", .parts = {Paragraph{JobVerdict(job)}}});
  for (const Section& section :
       {DifferenceSection(job, rows.causes), KindSection(job, rows.kinds, rows.is_narrow)})
    if (!section.parts.empty()) document.push_back(section);
  return document;
}

Document JobScreen(const std::string& folder, const Job& job) {
  constexpr std::ptrdiff_t kLines = 25;
  constexpr std::array<JobRows, 9> kRowsToTry = {
      {{4, 12}, {4, 9}, {3, 9}, {3, 8}, {2, 8}, {2, 6}, {1, 6}, {1, 4}, {1, 2}}};
  Document screen;
  for (JobRows rows : kRowsToTry) {
    rows.is_narrow = Columns() < kColumns;
    screen = JobSections(folder, job, rows);
    const std::string text = TextOf(screen);
    if (std::count(text.begin(), text.end(), '\n') <= kLines) break;
  }
  return screen;
}

Document ProcessSections(const Job& job) {
  Document document;
  if (job.kinds.empty())
    if (Section outliers = OutlierSection(job.processes); !outliers.parts.empty())
      document.push_back(std::move(outliers));
  document.push_back(ProcessSection(job.processes));
  return document;
}

Document ProcessesDocument(const std::string& folder, const Job& job, bool all) {
  Document document = all ? JobSections(folder, job, kAllJobRows) : JobScreen(folder, job);
  for (Section& section : ProcessSections(job)) document.push_back(std::move(section));
  return document;
}

}  // namespace memtrace::report
