// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/further_sections.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tools/fit/kept_away.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"

namespace memtrace::report {
namespace {

using Kind = TableColumn::Kind;

// The larger parts of a need, for a row: "parameters 14.20 GiB, activations 3.10 GiB".
std::string LargestParts(const fit::CardNeed& need) {
  constexpr size_t kMost = 3;
  std::vector<fit::NeedPart> parts = need.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::string text;
  for (size_t i = 0; i < std::min(kMost, parts.size()); ++i)
    text += (text.empty() ? "" : ", ") + parts[i].name + " " + FormatBytes(parts[i].bytes);
  return text;
}

std::string SignedBytes(double bytes) {
  return FormatSignedBytes(static_cast<int64_t>(std::llround(bytes)));
}

// Below a byte a value there is nothing to tell of a term at the values that were run.
std::string GrowthText(const fit::Growth& growth, const fit::Scaling& scaling) {
  const auto last = static_cast<double>(scaling.points.back().value);
  const double noise = growth.At(last) / 1000;
  std::string text = SignedBytes(growth.constant);
  if (std::abs(growth.linear * last) > noise)
    text += " + " + SignedBytes(growth.linear) + " x " + Printable(scaling.name);
  if (std::abs(growth.quadratic * last * last) > noise)
    text += " + " + SignedBytes(growth.quadratic) + " x " + Printable(scaling.name) + "^2";
  return text;
}

Table PointTable(const fit::Scaling& scaling) {
  Table table;
  table.columns = {{"", 24},
                   {"peak allocated", 16, Kind::kFigure},
                   {"needs", 12, Kind::kFigure},
                   {"by the formula", 16, Kind::kFigure}};
  for (const fit::Scaling::Point& point : scaling.points) {
    const double formula = std::max(0.0, scaling.needs.At(static_cast<double>(point.value)));
    table.rows.push_back({.cells = {Printable(scaling.name) + "=" + FormatCount(point.value),
                                    FormatBytes(point.peak_allocated), FormatBytes(point.needs),
                                    FormatBytes(static_cast<uint64_t>(std::llround(formula)))}});
  }
  return table;
}

Table GrowthTable(const std::string& title, const std::vector<fit::NamedGrowth>& growths,
                  const fit::Scaling& scaling) {
  Table table;
  table.title = title;
  table.columns = {{"", 44}, {"grows as", 44}};
  for (const fit::NamedGrowth& of : growths)
    table.rows.push_back({.cells = {Printable(of.name), GrowthText(of.growth, scaling)}});
  return table;
}

std::string LargestText(const fit::Answer& answer, const fit::Scaling& scaling) {
  if (answer.cards.empty()) return "";
  const std::string name = Printable(scaling.name) + "=";
  if (!scaling.largest)
    return name + FormatCount(scaling.fails.value_or(1)) + " does not complete on the card either.";
  std::string text =
      "The largest that completed on the card: " + name + FormatCount(*scaling.largest);
  if (scaling.fails) text += "; " + name + FormatCount(*scaling.fails) + " did not";
  return text + ".";
}

// "Kept away from your folders: 6 checkpoints, which were not written, and 2 files, ...: a.pt, ..."
std::string KeptAwayText(const fit::KeptAway& kept) {
  if (kept.is_nothing()) return "";
  std::string text = "Kept away from your folders: ";
  if (kept.saves > 0) text += FormatCounted(kept.saves, "checkpoint") + ", not written";
  if (kept.saves > 0 && kept.files > 0) text += ", and ";
  if (kept.files > 0)
    text += FormatCounted(kept.files, "file") + " written, moved or deleted, in a scratch folder";
  std::string separator = ": ";
  for (const std::string& name : kept.first) {
    text += separator + Printable(name);
    separator = ", ";
  }
  return text + (kept.first.size() < kept.saves + kept.files ? " …" : "") + ".";
}

}  // namespace

Section ProcessSection(const fit::Answer& answer) {
  Section section{
      .id = "processes",
      .title = "PROCESSES",
  };
  if (answer.unlimited.processes.size() < 2) return section;
  Table table;
  table.columns = {{"", 24},
                   {"card", 6, Kind::kFigure},
                   {"peak allocated", 16, Kind::kFigure},
                   {"needs", 12, Kind::kFigure}};
  for (const fit::ProcessNeed& process : answer.unlimited.processes) {
    for (const fit::CardNeed& need : process.cards) {
      table.rows.push_back({.cells = {Printable(process.name), std::to_string(need.card),
                                      FormatBytes(need.peak_allocated), FormatBytes(need.total)},
                            .below = {LargestParts(need)}});
    }
  }
  section.parts.emplace_back(std::move(table));
  return section;
}

Section ScalingSection(const fit::Answer& answer, const fit::Scaling& scaling) {
  Section section{.id = "scaling", .title = "GROWTH WITH " + Printable(scaling.name)};
  section.parts.emplace_back(PointTable(scaling));
  section.parts.emplace_back(Paragraph{"needs = " + GrowthText(scaling.needs, scaling) +
                                       " (each of these a run without a limit)"});
  if (!scaling.roles.empty())
    section.parts.emplace_back(GrowthTable("what grows", scaling.roles, scaling));
  if (!scaling.sites.empty())
    section.parts.emplace_back(GrowthTable("where", scaling.sites, scaling));
  const std::string largest = LargestText(answer, scaling);
  if (!largest.empty()) section.parts.emplace_back(Paragraph{largest});
  return section;
}

Section SmallestCardSection(const fit::Answer& answer) {
  Section section{.id = "smallest", .title = "SMALLEST CARD"};
  if (answer.smallest.empty()) return section;
  Table table;
  table.columns = {
      {"", 24}, {"completes", 12, Kind::kFigure}, {"fails", 12, Kind::kFigure}, {"product", 0}};
  for (const fit::SmallestCard& card : answer.smallest) {
    const std::string product = card.product.empty()
                                    ? "none that is known"
                                    : card.product + " (" + FormatBytes(card.product_bytes) + ")";
    table.rows.push_back({.cells = {Printable(card.allocator), FormatBytes(card.completes),
                                    card.fails ? FormatBytes(*card.fails) : "", product}});
  }
  section.parts.emplace_back(std::move(table));
  section.parts.emplace_back(
      Note{"each size and product a run; no size that fails: less than it needs"});
  return section;
}

Section LimitsSection(const fit::Answer& answer) {
  Section section{.id = "limits", .title = "HOW IT IS KNOWN"};
  section.parts.emplace_back(
      Paragraph{"All of this was seen in runs on simulated cards: sizes and failures are exact, "
                "kernels did not run."});
  const std::string kept = KeptAwayText(fit::KeptAwayOf(answer.unlimited.annotations));
  if (!kept.empty()) section.parts.emplace_back(Paragraph{kept});
  return section;
}

}  // namespace memtrace::report
