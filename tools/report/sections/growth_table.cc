// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/growth_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "nlohmann/json.hpp"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::GrowingSite;
using analysis::GrowthCourse;
using analysis::IterationKind;
using analysis::Keeper;
using analysis::Scratch;
using nlohmann::ordered_json;

constexpr size_t kRows = 5;

bool Grows(const Explanation& explanation) {
  return explanation.kept.growth.is_worth_saying(explanation.holders.held.bytes);
}

// The words for an iteration; `key` is its name in JSON.
struct IterationWords {
  std::string_view key;
  std::string_view name;
  std::string_view plural;
  std::string_view title;
};

const IterationWords& WordsOf(const GrowthCourse& growth) {
  static constexpr std::array<IterationWords, 3> kWords = {{
      {"step", "step", "steps", "GROWS FROM STEP TO STEP"},
      {"micro_batch", "micro-batch", "micro-batches", "GROWS FROM MICRO-BATCH TO MICRO-BATCH"},
      {"loop", "iteration", "iterations", "GROWS FROM ITERATION TO ITERATION"},
  }};
  static_assert(static_cast<size_t>(IterationKind::kLoop) + 1 == kWords.size());
  return kWords[static_cast<size_t>(growth.kind)];
}

std::string_view KindName(Keeper::Kind kind) {
  switch (kind) {
    case Keeper::Kind::kElements:
      return "elements";
    case Keeper::Kind::kElementsGraphs:
      return "graphs_of_elements";
    case Keeper::Kind::kGradients:
      return "gradients";
    case Keeper::Kind::kGraph:
      break;
  }
  return "graph";
}

// Returns "of the loop around train.py:9".
std::string LoopText(const GrowthCourse& growth) {
  return "of the loop around " + Printable(growth.line);
}

// Returns "a step", or "an iteration of the loop around train.py:9 (1,200 so far)".
std::string PerIteration(const GrowthCourse& growth) {
  if (growth.kind != IterationKind::kLoop) return "a " + std::string(WordsOf(growth).name);
  return "an iteration " + LoopText(growth) + " (" + FormatCount(growth.iterations) + " so far)";
}

std::string GrowthNote(const GrowthCourse& growth) {
  std::string note = "in use as " + std::string(WordsOf(growth).plural) + " begin, exact; in no " +
                     std::string(WordsOf(growth).name) + " less than in the one before";
  if (growth.kind != IterationKind::kLoop) return note;
  return note + "; iterations are inferred from the stacks of allocations";
}

// Says how long a run that fits can go on.
std::string TimeUntilFullText(const Explanation& explanation) {
  const analysis::Ledger& ledger = explanation.card_of_verdict().ledger;
  if (explanation.failure.request || !ledger.total_known) return "";
  const int64_t left =
      ledger.bytes(analysis::LedgerPart::kFree) + ledger.bytes(analysis::LedgerPart::kCached);
  if (left <= 0) return "";
  return "; at that rate the card is full in about " +
         FormatCount(static_cast<uint64_t>(left / explanation.kept.growth.bytes_per_iteration)) +
         " " + std::string(WordsOf(explanation.kept.growth).plural) + " (estimated)";
}

bool HasScratch(const Explanation& explanation) {
  return !explanation.layout.scratch.empty() &&
         explanation.holders.is_of_weight(explanation.layout.scratch.front().bytes, 100);
}

// Returns "?" for snapshots of torch before 2.2, which have no times.
std::string LifetimeText(const Explanation& explanation, const Scratch& scratch) {
  return explanation.run.counts.last_ns == 0 ? "?" : FormatDuration(scratch.lifetime_ns);
}

std::string MoreRowsText(size_t rows, size_t shown) {
  return rows <= shown ? "" : FormatCount(rows - shown) + " more";
}

// Returns "h.0.mlp (train.py:18)", or only the line if it is the site.
std::string SiteText(const GrowingSite& site) {
  const bool has_line = !site.line.empty() && site.line != site.site;
  return Printable(site.site) + (has_line ? " (" + Printable(site.line) + ")" : "");
}

}  // namespace

ordered_json KeeperJson(const std::optional<Keeper>& keeper) {
  if (!keeper) return nullptr;
  return {{"kind", KindName(keeper->kind)}, {"container", keeper->container},
          {"name", keeper->name},           {"place", keeper->place},
          {"line", keeper->line},           {"count", keeper->count},
          {"hook", keeper->hook},           {"metric", keeper->metric}};
}

// Returns "The list 'kept' (train.py) keeps it: 12,000 elements."
std::string KeeperSentence(const Explanation& explanation) {
  if (!Grows(explanation) || !explanation.kept.growth.keeper || explanation.kept.summed_passes)
    return "";
  const Keeper& keeper = *explanation.kept.growth.keeper;
  if (keeper.kind == Keeper::Kind::kGradients) {
    return "backward(create_graph=True) at " + Printable(keeper.line) +
           " makes gradients that have graphs: a tensor and its gradient then refer to each other, "
           "and neither is freed, nor what the graph between them keeps.";
  }
  const std::string& place = keeper.line.empty() ? keeper.place : keeper.line;
  const std::string name = "'" + Printable(keeper.name) + "' (" + Printable(place) + ")";
  if (keeper.kind == Keeper::Kind::kGraph) {
    return name + " keeps it: its graph reaches back over " + FormatCount(keeper.count) +
           " operations.";
  }
  const std::string filled =
      keeper.hook.empty() ? "" : ", which the forward hook " + Printable(keeper.hook) + " fills,";
  const std::string graphs =
      keeper.kind == Keeper::Kind::kElementsGraphs ? " with the graphs that made them" : "";
  const std::string state =
      keeper.metric.empty() ? "" : ", a state of a " + Printable(keeper.metric) + ",";
  return "The " + Printable(keeper.container) + " " + name + filled + state +
         " keeps it: " + FormatCount(keeper.count) + " elements" + graphs + ".";
}

// Returns "in backward": autograd's threads have no line, so their site is the phase. Empty for
// other sites.
std::string PhaseOf(const std::string& site) {
  return site.starts_with('(') ? site.substr(1, site.size() - 2) : "";
}

// A site's rate is over the iterations in which it rose, the card's over all iterations. So a site
// that grows about as fast as the card makes all of its growth.
std::string ShareText(const GrowingSite& site, uint64_t of_card) {
  constexpr uint64_t kTwentieth = 20;
  if (site.bytes_per_step < of_card - of_card / kTwentieth)
    return SiteText(site) + " by " + FormatBytes(site.bytes_per_step);
  const std::string phase = PhaseOf(site.site);
  return "all of it " + (phase.empty() ? "at " + SiteText(site) : phase);
}

std::string GrowthSentence(const Explanation& explanation) {
  if (!Grows(explanation)) return "";
  const GrowthCourse& growth = explanation.kept.growth;
  const auto of_card = static_cast<uint64_t>(growth.bytes_per_iteration);
  return "Live memory grows by " + FormatBytes(of_card) + " " + PerIteration(growth) + "; " +
         ShareText(growth.sites.front(), of_card) + TimeUntilFullText(explanation) + ".";
}

std::string ScratchSentence(const Explanation& explanation) {
  if (explanation.layout.scratch.empty()) return "";
  const Scratch& first = explanation.layout.scratch.front();
  if (!explanation.holders.is_of_weight(first.bytes, 10)) return "";
  const std::string phase = PhaseOf(first.site);
  const std::string whose = phase.empty() ? "of " + Printable(first.site) : phase;
  const std::string stays = first.stays > 0 ? ", and left " + FormatBytes(first.stays) : "";
  return FormatBytes(first.bytes) + " of what was held then was scratch " + whose +
         ", gone when the phase was over" + stays + ".";
}

Section GrowthSection(const Explanation& explanation) {
  const GrowthCourse& growth = explanation.kept.growth;
  const std::string name(WordsOf(growth).name);
  Section section{.id = "growth", .title = std::string(WordsOf(growth).title)};
  if (!Grows(explanation)) return section;
  if (growth.kind == IterationKind::kLoop) section.subtitle = LoopText(growth);
  const TableUnit unit = UnitFor(growth.sites.front().bytes);
  const TableUnit rate = UnitFor(growth.sites.front().bytes_per_step);
  Table table;
  table.columns = {
      {"", 45},
      {std::string(unit.name) + " now", 9, TableColumn::Kind::kFigure},
      {std::string(rate.name) + "/" + name, name.size() + 7, TableColumn::Kind::kFigure},
      {"since", name.size() + 8}};
  const size_t shown = std::min(growth.sites.size(), kRows);
  for (size_t i = 0; i < shown; ++i) {
    const GrowingSite& site = growth.sites[i];
    table.rows.push_back({.cells = {SiteText(site), FormatFigure(site.bytes, unit),
                                    FormatFigure(site.bytes_per_step, rate),
                                    name + " " + std::to_string(site.since)}});
  }
  table.rest = MoreRowsText(growth.sites.size(), shown);
  section.parts = {std::move(table), Note{GrowthNote(growth)}};
  return section;
}

Section ScratchSection(const Explanation& explanation) {
  Section section{.id = "scratch", .title = "SCRATCH", .subtitle = "gone when the phase was over"};
  if (!HasScratch(explanation)) return section;
  const TableUnit unit = UnitFor(explanation.layout.scratch.front().bytes);
  Table table;
  table.columns = {{"", 0},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {"blocks", 8, TableColumn::Kind::kFigure},
                   {"lasted", 10},
                   {"left behind", 12}};
  size_t shown = 0;
  while (shown < std::min(explanation.layout.scratch.size(), kRows) &&
         Hundredths(static_cast<int64_t>(explanation.layout.scratch[shown].bytes), unit) > 0) {
    const Scratch& scratch = explanation.layout.scratch[shown++];
    table.rows.push_back({.cells = {Printable(scratch.site), FormatFigure(scratch.bytes, unit),
                                    FormatCount(scratch.blocks), LifetimeText(explanation, scratch),
                                    FormatBytes(scratch.stays)}});
  }
  table.rest = MoreRowsText(explanation.layout.scratch.size(), shown);
  section.parts.emplace_back(std::move(table));
  return section;
}

ordered_json GrowthJson(const Explanation& explanation) {
  ordered_json sites = ordered_json::array();
  const GrowthCourse& growth = explanation.kept.growth;
  for (const GrowingSite& site : growth.sites) {
    sites.push_back({{"site", site.site},
                     {"line", site.line},
                     {"bytes", site.bytes},
                     {"gained", site.gained},
                     {"bytes_per_step", site.bytes_per_step},
                     {"since_step", site.since},
                     {"to_step", site.last},
                     {"enlarged", site.is_enlarged}});
  }
  return {{"bytes_per_step", growth.bytes_per_iteration},
          {"iteration",
           {{"kind", WordsOf(growth).key}, {"line", growth.line}, {"count", growth.iterations}}},
          {"sites", sites},
          {"keeper", KeeperJson(growth.keeper)}};
}

ordered_json ScratchJson(const std::vector<Scratch>& scratches) {
  ordered_json rows = ordered_json::array();
  for (const Scratch& scratch : scratches) {
    rows.push_back({{"site", scratch.site},
                    {"bytes", scratch.bytes},
                    {"blocks", scratch.blocks},
                    {"lifetime_ns", scratch.lifetime_ns},
                    {"stays", scratch.stays}});
  }
  return rows;
}

}  // namespace memtrace::report
