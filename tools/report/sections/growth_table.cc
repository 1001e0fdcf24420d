// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/growth_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/analysis/source/annotation.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::GrowingSite;
using analysis::GrowthCourse;
using analysis::IterationKind;
using analysis::Keeper;
using analysis::Scratch;
using nlohmann::ordered_json;

constexpr size_t kGrowthRows = 5;

bool Grows(const Explanation& explanation) {
  return explanation.kept.growth.is_worth_saying(explanation.holders.held.bytes);
}

// The names of an iteration's kind: in JSON, and as a title.
struct IterationNames {
  std::string_view key;
  std::string_view title;
};

const IterationNames& NamesOf(const GrowthCourse& growth) {
  static constexpr std::array<IterationNames, 3> kNames = {
      {{"step", Marked("GROWS FROM STEP TO STEP")},
       {"micro_batch", Marked("GROWS FROM MICRO-BATCH TO MICRO-BATCH")},
       {"loop", Marked("GROWS FROM ITERATION TO ITERATION")}}};
  static_assert(static_cast<size_t>(IterationKind::kLoop) + 1 == kNames.size());
  return kNames[static_cast<size_t>(growth.kind)];
}

// Returns the text for the kind of iterations that the growth has.
std::string ForKind(const GrowthCourse& growth, const std::string& steps,
                    const std::string& micro_batches, const std::string& loop) {
  if (growth.kind == IterationKind::kLoop) return loop;
  return growth.kind == IterationKind::kStep ? steps : micro_batches;
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

// True if what grew is known to grow no more: its loop or the program is over.
bool HasStopped(const Explanation& explanation) {
  if (explanation.kept.growth.is_over) return true;
  return !explanation.failure.request && analysis::HasEnded(explanation.run.annotations);
}

// Says what was seen of a growth that has stopped.
std::string PastRateSentence(const GrowthCourse& growth, const std::string& bytes) {
  const std::string count = FormatCount(growth.iterations);
  return ForKind(
      growth, Message("Memory in use rose by $0 per step over $1 steps.", bytes, count),
      Message("Memory in use rose by $0 per micro-batch over $1 micro-batches.", bytes, count),
      Message("Memory in use rose by $0 per iteration of the loop around $1, over $2 "
              "iterations.",
              bytes, Printable(growth.line), count));
}

std::string RateSentence(const Explanation& explanation) {
  const GrowthCourse& growth = explanation.kept.growth;
  const std::string bytes = FormatBytes(static_cast<uint64_t>(growth.bytes_per_iteration));
  if (HasStopped(explanation)) return PastRateSentence(growth, bytes);
  return ForKind(
      growth, Message("Memory in use grows by $0 per step.", bytes),
      Message("Memory in use grows by $0 per micro-batch.", bytes),
      Message("Memory in use grows by $0 per iteration of the loop around $1 ($2 so far).", bytes,
              Printable(growth.line), FormatCount(growth.iterations)));
}

std::string GrowthNote(const GrowthCourse& growth) {
  return ForKind(
      growth,
      Message("Exact: memory in use as steps begin. It did not fall from one step to the next."),
      Message(
          "Exact: memory in use as micro-batches begin. It did not fall from one micro-batch to "
          "the next."),
      Message("Exact: memory in use as iterations begin. It did not fall from one iteration to the "
              "next. Iterations are inferred from the stacks of allocations."));
}

// Says how long a run that fits can go on. A loop that is over does not go on; a run that ended may
// be the first steps of a longer one.
std::string TimeUntilFullSentence(const Explanation& explanation) {
  const analysis::Ledger& ledger = explanation.card_of_verdict().ledger;
  if (explanation.failure.request || !ledger.total_known) return "";
  const int64_t left =
      ledger.bytes(analysis::LedgerPart::kFree) + ledger.bytes(analysis::LedgerPart::kCached);
  if (left <= 0) return "";
  const GrowthCourse& growth = explanation.kept.growth;
  const auto count = static_cast<uint64_t>(left / growth.bytes_per_iteration);
  const std::string number = FormatCount(count);
  if (HasStopped(explanation)) {
    if (growth.kind != IterationKind::kStep) return "";
    return CountedMessage(
        count, "If the run went on, the card would be full after about 1 more step (estimated).",
        "If the run went on, the card would be full after about $0 more steps (estimated).",
        number);
  }
  return ForKind(
      growth,
      CountedMessage(count, "At this rate the card is full in about 1 step (estimated).",
                     "At this rate the card is full in about $0 steps (estimated).", number),
      CountedMessage(count, "At this rate the card is full in about 1 micro-batch (estimated).",
                     "At this rate the card is full in about $0 micro-batches (estimated).",
                     number),
      CountedMessage(count, "At this rate the card is full in about 1 iteration (estimated).",
                     "At this rate the card is full in about $0 iterations (estimated).", number));
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
  return rows <= shown ? "" : Message("$0 more", FormatCount(rows - shown));
}

// Returns "h.0.mlp (train.py:18)", or only the line if it is the site.
std::string SiteText(const GrowingSite& site) {
  const bool has_line = !site.line.empty() && site.line != site.site;
  return SiteWords(site.site) + (has_line ? " (" + SiteWords(site.line) + ")" : "");
}

// Returns "backward" for the site "(in backward)": autograd's threads have no line, so their site
// is the phase. Empty for other sites.
std::string PhaseOf(const std::string& site) {
  for (size_t i = 0; i < trace::kPhaseCount; ++i) {
    const auto phase = static_cast<trace::Phase>(i);
    if (site == "(in " + std::string(PhaseName(phase)) + ")") return PhaseWords(phase);
  }
  return "";
}

// A site's rate is over the iterations in which it rose, the card's over all iterations. So a site
// that grows about as fast as the card makes all of its growth.
std::string ShareSentence(const Explanation& explanation) {
  const GrowthCourse& growth = explanation.kept.growth;
  constexpr uint64_t kTwentieth = 20;
  const auto of_card = static_cast<uint64_t>(growth.bytes_per_iteration);
  const GrowingSite& first = growth.sites.front();
  const std::string rate = FormatBytes(first.bytes_per_step);
  const std::string phase = PhaseOf(first.site);
  const bool is_all = first.bytes_per_step >= of_card - of_card / kTwentieth;
  if (is_all && phase.empty()) return Message("All of it is allocated at $0.", SiteText(first));
  if (is_all) return Message("All of it is allocated in $0.", phase);
  if (HasStopped(explanation))
    return phase.empty() ? Message("It rose most at $0, by $1.", SiteText(first), rate)
                         : Message("It rose most in $0, by $1.", phase, rate);
  if (phase.empty()) return Message("It grows most at $0, by $1.", SiteText(first), rate);
  return Message("It grows most in $0, by $1.", phase, rate);
}

// Returns "The list 'kept' (train.py) keeps this memory: 12,000 elements."
std::string ContainerSentences(const Keeper& keeper, const std::string& place) {
  const std::string container = Printable(keeper.container);
  const std::string name = Printable(keeper.name);
  const std::string count = FormatCount(keeper.count);
  const std::string elements =
      keeper.kind == Keeper::Kind::kElementsGraphs
          ? CountedMessage(keeper.count,
                           "The $0 '$1' ($2) keeps this memory: 1 element and the graph that made "
                           "it.",
                           "The $0 '$1' ($2) keeps this memory: $3 elements and the graphs that "
                           "made them.",
                           container, name, place, count)
          : CountedMessage(keeper.count, "The $0 '$1' ($2) keeps this memory: 1 element.",
                           "The $0 '$1' ($2) keeps this memory: $3 elements.", container, name,
                           place, count);
  return JoinedSentences(
      {elements,
       keeper.hook.empty() ? "" : Message("The forward hook $0 fills it.", Printable(keeper.hook)),
       keeper.metric.empty() ? "" : Message("It is a state of a $0.", Printable(keeper.metric))});
}

}  // namespace

ordered_json KeeperJson(const std::optional<Keeper>& keeper) {
  if (!keeper) return nullptr;
  return {{"kind", KindName(keeper->kind)}, {"container", keeper->container},
          {"name", keeper->name},           {"place", keeper->place},
          {"line", keeper->line},           {"count", keeper->count},
          {"hook", keeper->hook},           {"metric", keeper->metric}};
}

std::string KeeperSentence(const Explanation& explanation) {
  if (!Grows(explanation) || !explanation.kept.growth.keeper || explanation.kept.summed_passes)
    return "";
  const Keeper& keeper = *explanation.kept.growth.keeper;
  if (keeper.kind == Keeper::Kind::kGradients) {
    return Message(
        "backward(create_graph=True) at $0 makes gradients that have graphs. A tensor and its "
        "gradient then refer to each other, so neither is freed, nor is what the graph between "
        "them keeps.",
        Printable(keeper.line));
  }
  const std::string place = Printable(keeper.line.empty() ? keeper.place : keeper.line);
  if (keeper.kind != Keeper::Kind::kGraph) return ContainerSentences(keeper, place);
  return CountedMessage(keeper.count,
                        "'$0' ($1) keeps this memory: its graph reaches back over 1 operation.",
                        "'$0' ($1) keeps this memory: its graph reaches back over $2 operations.",
                        Printable(keeper.name), place, FormatCount(keeper.count));
}

std::string GrowthSentence(const Explanation& explanation) {
  if (!Grows(explanation)) return "";
  return JoinedSentences(
      {RateSentence(explanation), ShareSentence(explanation), TimeUntilFullSentence(explanation)});
}

std::string ScratchSentence(const Explanation& explanation) {
  if (explanation.layout.scratch.empty()) return "";
  const Scratch& first = explanation.layout.scratch.front();
  if (!explanation.holders.is_of_weight(first.bytes, 10)) return "";
  const std::string phase = PhaseOf(first.site);
  const std::string bytes = FormatBytes(first.bytes);
  std::string text =
      phase.empty() ? Message(
                          "$0 of the memory held then was temporary, allocated at $1, and freed "
                          "by the end of the phase.",
                          bytes, SiteWords(first.site))
                    : Message(
                          "$0 of the memory held then was temporary, allocated in $1, and freed "
                          "by the end of the phase.",
                          bytes, phase);
  if (first.stays == 0) return text;
  return JoinedSentences({text, Message("After it was freed, $0 more was in use than before.",
                                        FormatBytes(first.stays))});
}

Section GrowthSection(const Explanation& explanation) {
  const GrowthCourse& growth = explanation.kept.growth;
  Section section{.id = "growth", .title = MessageOf(NamesOf(growth).title)};
  if (!Grows(explanation)) return section;
  if (growth.kind == IterationKind::kLoop)
    section.subtitle = Message("of the loop around $0", Printable(growth.line));
  const TableUnit unit = UnitFor(growth.sites.front().bytes);
  const TableUnit rate = UnitFor(growth.sites.front().bytes_per_step);
  const std::string per_iteration =
      ForKind(growth, Message("$0 per step", rate.name), Message("$0 per micro-batch", rate.name),
              Message("$0 per iteration", rate.name));
  const std::string since = ForKind(growth, Message("since step"), Message("since micro-batch"),
                                    Message("since iteration"));
  Table table;
  table.columns = {{"", 0},
                   {Message("$0 now", unit.name), 9, TableColumn::Kind::kFigure},
                   {per_iteration, Width(per_iteration) + 2, TableColumn::Kind::kFigure},
                   {since, Width(since)}};
  const size_t shown = std::min(growth.sites.size(), kGrowthRows);
  for (size_t i = 0; i < shown; ++i) {
    const GrowingSite& site = growth.sites[i];
    table.rows.push_back(
        {.cells = {SiteText(site), FormatFigure(site.bytes, unit),
                   FormatFigure(site.bytes_per_step, rate), FormatCount(site.since)}});
  }
  table.rest = MoreRowsText(growth.sites.size(), shown);
  section.parts = {std::move(table), Note{GrowthNote(growth)}};
  return section;
}

Section ScratchSection(const Explanation& explanation) {
  Section section{.id = "scratch",
                  .title = Message("TEMPORARY MEMORY"),
                  .subtitle = Message("freed by the end of the phase")};
  if (!HasScratch(explanation)) return section;
  const TableUnit unit = UnitFor(explanation.layout.scratch.front().bytes);
  Table table;
  table.columns = {{"", 0},
                   {std::string(unit.name), 9, TableColumn::Kind::kFigure},
                   {Message("blocks"), 8, TableColumn::Kind::kFigure},
                   {Message("lasted"), 10},
                   {Message("left in use"), 12}};
  size_t shown = 0;
  while (shown < std::min(explanation.layout.scratch.size(), kGrowthRows) &&
         Hundredths(static_cast<int64_t>(explanation.layout.scratch[shown].bytes), unit) > 0) {
    const Scratch& scratch = explanation.layout.scratch[shown++];
    table.rows.push_back({.cells = {SiteWords(scratch.site), FormatFigure(scratch.bytes, unit),
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
           {{"kind", NamesOf(growth).key}, {"line", growth.line}, {"count", growth.iterations}}},
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
