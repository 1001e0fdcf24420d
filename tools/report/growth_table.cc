// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/growth_table.h"

#include <algorithm>
#include <utility>

#include "nlohmann/json.hpp"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::GrowingSite;
using analysis::Scratch;
using nlohmann::ordered_json;

constexpr size_t kRows = 5;

// Small things always come and go.
bool IsWorthSaying(uint64_t bytes, const Explanation& explanation, uint64_t part) {
  return bytes > 0 && bytes >= explanation.held.bytes / part;
}

bool Grows(const Explanation& explanation) {
  return !explanation.growing.empty() && explanation.growth_per_step > 0 &&
         IsWorthSaying(explanation.growing.front().gained, explanation, 1000);
}

// How long it can go on, of a run that fitted.
std::string Lasts(const Explanation& explanation) {
  const analysis::Ledger& ledger = explanation.cards[explanation.card].ledger;
  if (explanation.request || !ledger.total_known) return "";
  const int64_t left = ledger.bytes("free") + ledger.bytes("cached");
  if (left <= 0) return "";
  return "; at that rate the card is full in about " +
         FormatCount(static_cast<uint64_t>(left / explanation.growth_per_step)) +
         " steps (estimated)";
}

bool HasScratch(const Explanation& explanation) {
  return !explanation.scratch.empty() &&
         IsWorthSaying(explanation.scratch.front().bytes, explanation, 100);
}

// Snapshots of torch before 2.2 have no times.
std::string Lasted(const Explanation& explanation, const Scratch& scratch) {
  return explanation.counts.last_ns == 0 ? "?" : FormatDuration(scratch.lifetime_ns);
}

std::string RestOf(size_t rows, size_t shown) {
  return rows <= shown ? "" : FormatCount(rows - shown) + " more";
}

// "h.0.mlp (train.py:18)"; the line alone where it is the site.
std::string SiteText(const GrowingSite& site) {
  const bool has_line = !site.line.empty() && site.line != site.site;
  return Printable(site.site) + (has_line ? " (" + Printable(site.line) + ")" : "");
}

}  // namespace

std::string GrowthSentence(const Explanation& explanation) {
  if (!Grows(explanation)) return "";
  const GrowingSite& first = explanation.growing.front();
  return "Live memory grows by " + FormatBytes(static_cast<uint64_t>(explanation.growth_per_step)) +
         " a step; " + SiteText(first) + " by " + FormatBytes(first.bytes_per_step) +
         Lasts(explanation) + ".";
}

std::string ScratchSentence(const Explanation& explanation) {
  if (explanation.scratch.empty()) return "";
  const Scratch& first = explanation.scratch.front();
  if (!IsWorthSaying(first.bytes, explanation, 10)) return "";
  // Autograd's threads have no line: their site is the phase.
  const std::string whose = first.site.front() == '(' ? first.site.substr(1, first.site.size() - 2)
                                                      : "of " + Printable(first.site);
  const std::string stays =
      first.stays > 0 ? ", and left " + FormatBytes(static_cast<uint64_t>(first.stays)) : "";
  return FormatBytes(first.bytes) + " of what was held then was scratch " + whose +
         ", gone when the phase was over" + stays + ".";
}

Section GrowthSection(const Explanation& explanation) {
  Section section{.id = "growth", .title = "GROWS FROM STEP TO STEP"};
  if (!Grows(explanation)) return section;
  const TableUnit unit = UnitFor(explanation.growing.front().bytes);
  const TableUnit rate = UnitFor(explanation.growing.front().bytes_per_step);
  Table table;
  table.columns = {{"", 45},
                   {std::string(unit.name) + " now", 9, TableColumn::Kind::kFigure},
                   {std::string(rate.name) + "/step", 11, TableColumn::Kind::kFigure},
                   {"since", 12}};
  const size_t shown = std::min(explanation.growing.size(), kRows);
  for (size_t i = 0; i < shown; ++i) {
    const GrowingSite& site = explanation.growing[i];
    table.rows.push_back(
        {.cells = {SiteText(site), FormatFigure(site.bytes, unit),
                   FormatFigure(site.bytes_per_step, rate), "step " + std::to_string(site.since)}});
  }
  table.rest = RestOf(explanation.growing.size(), shown);
  section.parts = {std::move(table),
                   Note{"in use as steps begin, exact; in no step less than in the one before"}};
  return section;
}

Section ScratchSection(const Explanation& explanation) {
  Section section{.id = "scratch", .title = "SCRATCH", .subtitle = "gone when the phase was over"};
  if (!HasScratch(explanation)) return section;
  const TableUnit unit = UnitFor(explanation.scratch.front().bytes);
  Table table;
  table.columns = {{"", 0},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {"blocks", 8, TableColumn::Kind::kFigure},
                   {"lasted", 10},
                   {"left behind", 12}};
  size_t shown = 0;
  while (shown < std::min(explanation.scratch.size(), kRows) &&
         Hundredths(static_cast<int64_t>(explanation.scratch[shown].bytes), unit) > 0) {
    const Scratch& scratch = explanation.scratch[shown++];
    table.rows.push_back({.cells = {Printable(scratch.site), FormatFigure(scratch.bytes, unit),
                                    FormatCount(scratch.blocks), Lasted(explanation, scratch),
                                    FormatSignedBytes(scratch.stays)}});
  }
  table.rest = RestOf(explanation.scratch.size(), shown);
  section.parts.emplace_back(std::move(table));
  return section;
}

ordered_json GrowthJson(const Explanation& explanation) {
  ordered_json sites = ordered_json::array();
  for (const GrowingSite& site : explanation.growing) {
    sites.push_back({{"site", site.site},
                     {"line", site.line},
                     {"bytes", site.bytes},
                     {"gained", site.gained},
                     {"bytes_per_step", site.bytes_per_step},
                     {"since_step", site.since},
                     {"to_step", site.last}});
  }
  return {{"bytes_per_step", explanation.growth_per_step}, {"sites", sites}};
}

ordered_json ScratchJson(const Explanation& explanation) {
  ordered_json rows = ordered_json::array();
  for (const Scratch& scratch : explanation.scratch) {
    rows.push_back({{"site", scratch.site},
                    {"bytes", scratch.bytes},
                    {"blocks", scratch.blocks},
                    {"lifetime_ns", scratch.lifetime_ns},
                    {"stays", scratch.stays}});
  }
  return rows;
}

}  // namespace memtrace::report
