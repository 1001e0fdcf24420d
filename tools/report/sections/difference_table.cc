// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/difference_table.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/rank_words.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::Comparison;
using analysis::Job;
using analysis::PeakCause;

// Returns "embed_tokens" of "model.embed_tokens"; empty for a part of a numbered layer.
std::string_view ModuleName(std::string_view site) {
  if (site.find('*') != std::string_view::npos) return "";
  return site.substr(site.rfind('.') + 1);
}

// The names that models give to the layer that makes logits.
bool IsOutputLayer(std::string_view site) {
  constexpr std::array<std::string_view, 5> kNames = {"output", "lm_head", "output_layer",
                                                      "embed_out", "head"};
  return std::find(kNames.begin(), kNames.end(), ModuleName(site)) != kNames.end();
}

bool IsEmbedding(std::string_view site) {
  const std::string_view name = ModuleName(site);
  return name == "wte" || name == "wpe" || name.find("embed") != std::string_view::npos;
}

std::string ModuleText(const Job& job, const Comparison& of, const PeakCause& cause) {
  const std::string without = ProcessName(job.processes[cause.bytes > 0 ? of.with : of.process]);
  const std::string site = Printable(cause.site);
  if (IsOutputLayer(cause.site))
    return Message("the output layer ($0), of which $1 holds nothing", site, without);
  if (IsEmbedding(cause.site))
    return Message("the embedding ($0), of which $1 holds nothing", site, without);
  return Message("the module $0, of which $1 holds nothing", site, without);
}

std::string MicroBatchText(const Job& job, const Comparison& of, const PeakCause& cause) {
  return CountedMessage(cause.count, "activations of 1 micro-batch in flight; $1 holds those of $2",
                        "activations of $0 micro-batches in flight; $1 holds those of $2",
                        FormatCount(cause.count), ProcessName(job.processes[of.with]),
                        FormatCount(cause.other_count));
}

std::string LayerText(const Job& job, const Comparison& of, const PeakCause& cause) {
  return CountedMessage(cause.count, "1 layer ($1); $2 has $3", "$0 layers ($1); $2 has $3",
                        FormatCount(cause.count), Printable(cause.site),
                        ProcessName(job.processes[of.with]), FormatCount(cause.other_count));
}

std::string HolderText(const PeakCause& cause) {
  constexpr size_t kMostOfSite = 50;
  const std::string site = ShortenedFront(SiteWords(cause.site), kMostOfSite);
  return Message("$0: $1", RoleWords(cause.role), site);
}

std::string CauseText(const Job& job, const Comparison& of, const PeakCause& cause) {
  using Kind = PeakCause::Kind;
  switch (cause.kind) {
    case Kind::kModule:
      return ModuleText(job, of, cause);
    case Kind::kMicroBatches:
      return MicroBatchText(job, of, cause);
    case Kind::kLoss:
      return cause.line.empty() ? Message("logits of the loss")
                                : Message("logits of the loss ($0)", Printable(cause.line));
    case Kind::kLayers:
      return LayerText(job, of, cause);
    case Kind::kHolder:
      return HolderText(cause);
    case Kind::kRest:
      break;
  }
  return Message("all else");
}

// Returns the largest causes, then one for the rest if there is any.
std::vector<PeakCause> LargestCauses(const Comparison& of, size_t most) {
  std::vector<PeakCause> shown = of.causes;
  if (shown.size() <= most + 1) return shown;  // a row for the rest would not be shorter
  shown.resize(most);
  PeakCause rest;
  rest.bytes = of.bytes;
  for (const PeakCause& cause : shown) rest.bytes -= cause.bytes;
  if (rest.bytes != 0) shown.push_back(rest);
  return shown;
}

// Returns "+7.83 GiB".
std::string Signed(int64_t hundredths, TableUnit unit) {
  return (hundredths > 0 ? "+" : "") + FormatHundredths(hundredths) + " " + std::string(unit.name);
}

void AddRows(const Job& job, const Comparison& of, size_t most, TableUnit unit, Table& table) {
  const std::vector<PeakCause> causes = LargestCauses(of, most);
  std::vector<int64_t> bytes;
  bytes.reserve(causes.size());
  for (const PeakCause& cause : causes) bytes.push_back(cause.bytes);
  const int64_t total = Hundredths(of.bytes, unit);
  const std::vector<int64_t> figures = AdditiveHundredths(bytes, total, unit);
  const std::string place = PlaceOfKind(job, {.processes = {of.process}, .ranks = {}});
  table.rows.push_back(
      {.cells = {ProcessName(job.processes[of.process]), Signed(total, unit), place}});
  for (size_t i = 0; i < causes.size(); ++i) {
    table.rows.push_back(
        {.cells = {"", Signed(figures[i], unit), "  " + CauseText(job, of, causes[i])}});
  }
}

}  // namespace

Section DifferenceSection(const Job& job, size_t most) {
  Section section{.id = "why", .title = Message("WHY RANKS DIFFER")};
  if (job.comparisons.empty()) return section;
  uint64_t largest = 0;
  for (const Comparison& of : job.comparisons)
    largest = std::max(largest, static_cast<uint64_t>(std::abs(of.bytes)));
  const TableUnit unit = UnitFor(largest);
  const std::string with = NameWithPlace(job, job.comparisons.front().with);
  section.subtitle = Message("each at its own peak, compared with $0", with);
  Table table;
  table.columns = {{"", 11}, {"", 12, TableColumn::Kind::kFigure}, {"", 0}};
  for (const Comparison& of : job.comparisons) AddRows(job, of, most, unit, table);
  section.parts.emplace_back(std::move(table));
  return section;
}

}  // namespace memtrace::report
