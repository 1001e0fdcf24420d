// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/rank_picture.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "tools/report/page/html_document.h"
#include "tools/report/page/rank_cells.h"
#include "tools/report/page/svg_number.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/rank_words.h"

namespace memtrace::report {
namespace {

using analysis::Job;
using analysis::JobDimension;
using analysis::ProcessView;
using analysis::RankGrid;

// The room of a name in units.
constexpr double kLabelHeight = 12;
constexpr double kLabelWidth = 70;

std::string Text(std::string_view style, double x, double y, const std::string& text) {
  return "<text class=\"" + std::string(style) + "\" x=\"" + SvgNumber(x) + "\" y=\"" +
         SvgNumber(y) + "\">" + HtmlEscaped(text) + "</text>";
}

// Returns the name of the class of a kind's color.
std::string ColorOf(const Job& job, int32_t kind) {
  constexpr int kShades = 10;  // of page.css
  if (kind < 0) return "share_unknown";
  const ProcessView& view = job.processes[job.kinds[static_cast<size_t>(kind)].first()];
  if (view.first_failure) return "failed";
  const std::optional<double> share = analysis::UsedShare(view);
  if (!share) return "share_unknown";
  return "share_" + std::to_string(std::clamp(static_cast<int>(*share * kShades), 0, kShades - 1));
}

// How a cell looks.
struct Look {
  std::optional<int32_t> kind;  // nothing: there is no rank
  bool is_started = false;

  bool operator==(const Look&) const = default;
};

class RankDrawing {
 public:
  RankDrawing(const Job& job, const RankGrid& grid)
      : job_(job), grid_(grid), cells_(CellsOf(grid)), looks_(cells_.rows * cells_.columns) {
    for (uint64_t row = 0; row < cells_.rows; ++row)
      for (uint64_t column = 0; column < cells_.columns; ++column)
        looks_[row * cells_.columns + column] = LookAt(row, column);
  }

  std::string Run() const {
    const std::string height =
        SvgNumber(cells_.top + static_cast<double>(cells_.rows) * cells_.height + 2);
    const std::string name = Message(
        "The ranks of the job, each in the color of the share of its card that it used. "
        "The tables have the same figures.");
    return "<figure class=\"ranks\"><figcaption>" + HtmlEscaped(Caption()) + "</figcaption>" +
           Scrolling(Message("drawing of the ranks"),
                     "<svg role=\"img\" aria-label=\"" + HtmlEscaped(name) +
                         "\" viewBox=\"0 0 1000 " + height + "\">" + Hatching() + RowNames() +
                         ColumnNames() + Runs() + Lines() + Outlines() + "</svg>") +
           LegendOf(Entries()) + "</figure>\n";
  }

 private:
  Look LookAt(uint64_t row, uint64_t column) const;
  const Look& At(uint64_t row, uint64_t column) const {
    return looks_[row * cells_.columns + column];
  }
  double X(uint64_t column) const {
    return cells_.left + static_cast<double>(column) * cells_.width;
  }
  double Y(uint64_t row) const { return cells_.top + static_cast<double>(row) * cells_.height; }

  std::string Caption() const;
  static std::string Hatching();
  std::string RowNames() const;
  std::string ColumnNames() const;
  std::string Label(const JobDimension& dimension, uint64_t place) const;
  std::string Runs() const;
  std::string RunOf(const Look& look, uint64_t row, uint64_t begin, uint64_t end) const;
  std::string TitleOf(const Look& look) const;
  std::string Lines() const;
  std::string Outlines() const;
  bool Differ(uint64_t row, uint64_t column, uint64_t other_row, uint64_t other_column) const;
  std::vector<LegendEntry> Entries() const;

  const Job& job_;
  const RankGrid& grid_;
  const RankCells cells_;
  std::vector<Look> looks_;
};

Look RankDrawing::LookAt(uint64_t row, uint64_t column) const {
  Look look{.kind = KindInCell(grid_, cells_, row, column)};
  ForEachRank(grid_, cells_, row, column, [&](uint64_t rank) {
    look.is_started = look.is_started || grid_.processes[rank] >= 0;
  });
  return look;
}

std::string NameOf(const RankGrid& grid, const JobDimension& dimension) {
  if (grid.by_machine) return &dimension == &grid.rows ? Message("machines") : Message("cards");
  return dimension.name.empty() ? Message("other ranks") : "'" + Printable(dimension.name) + "'";
}

std::string RankDrawing::Caption() const {
  std::vector<std::string> columns;
  columns.reserve(grid_.columns.size());
  for (const JobDimension& dimension : grid_.columns) columns.push_back(NameOf(grid_, dimension));
  std::vector<std::string> parts = {Message("rows: $0", NameOf(grid_, grid_.rows)),
                                    Message("columns: $0", absl::StrJoin(columns, ", "))};
  if (std::any_of(looks_.begin(), looks_.end(),
                  [](const Look& look) { return look.kind && !look.is_started; }))
    parts.push_back(Message("hatched: not started"));
  if (const uint64_t ranks = cells_.ranks_down * cells_.ranks_across; ranks > 1)
    parts.push_back(Message("each cell is the fullest of $0 ranks", FormatCount(ranks)));
  return absl::StrJoin(parts, Message("; "));
}

std::string RankDrawing::Hatching() {
  return "<defs><pattern id=\"hatching\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
         "patternTransform=\"rotate(45)\"><rect class=\"hatch\" width=\"1.2\" "
         "height=\"6\"/></pattern></defs>";
}

// Names as many rows as have room.
std::string RankDrawing::RowNames() const {
  const auto every = static_cast<uint64_t>(std::ceil(kLabelHeight / cells_.height));
  std::string svg;
  for (uint64_t row = 0; row < cells_.rows; row += every) {
    svg += Text("scale", cells_.left - 6, Y(row) + cells_.height / 2 + 3.5,
                Label(grid_.rows, row * cells_.ranks_down));
  }
  return svg;
}

// Names the places of the first dimension of the columns, as many as have room.
std::string RankDrawing::ColumnNames() const {
  const JobDimension& outer = grid_.columns.front();
  const double each = (X(cells_.columns) - cells_.left) / static_cast<double>(outer.size);
  const auto every = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(kLabelWidth / each)));
  std::string svg;
  for (uint64_t place = 0; place < outer.size; place += every) {
    svg += Text("step", cells_.left + each * static_cast<double>(place) + 1, cells_.top - 6,
                Label(outer, place));
  }
  return svg;
}

// Returns "pp 1" for place 0, or "machine 0".
std::string RankDrawing::Label(const JobDimension& dimension, uint64_t place) const {
  constexpr size_t kMostOfName = 14;
  if (grid_.by_machine)
    return &dimension == &grid_.rows ? Message("machine $0", place) : Message("card $0", place);
  if (dimension.name.empty()) return std::to_string(place + 1);
  return Shortened(Printable(dimension.name), kMostOfName) + " " + std::to_string(place + 1);
}

std::string RankDrawing::Runs() const {
  std::string svg;
  for (uint64_t row = 0; row < cells_.rows; ++row) {
    for (uint64_t begin = 0; begin < cells_.columns;) {
      uint64_t end = begin + 1;
      while (end < cells_.columns && At(row, end) == At(row, begin)) ++end;
      svg += RunOf(At(row, begin), row, begin, end);
      begin = end;
    }
  }
  return svg;
}

std::string RankDrawing::RunOf(const Look& look, uint64_t row, uint64_t begin, uint64_t end) const {
  if (!look.kind) return "";
  const std::string place = "x=\"" + SvgNumber(X(begin)) + "\" y=\"" + SvgNumber(Y(row)) +
                            "\" width=\"" + SvgNumber(X(end) - X(begin)) + "\" height=\"" +
                            SvgNumber(cells_.height) + "\"";
  std::string svg = "<rect class=\"k-" + ColorOf(job_, *look.kind) + "\" " + place + "><title>" +
                    HtmlEscaped(TitleOf(look)) + "</title></rect>";
  if (!look.is_started) svg += "<rect class=\"hatched\" fill=\"url(#hatching)\" " + place + "/>";
  return svg;
}

std::string RankDrawing::TitleOf(const Look& look) const {
  if (*look.kind < 0) return Message("not known");
  const analysis::RankKind& kind = job_.kinds[static_cast<size_t>(*look.kind)];
  const ProcessView& view = job_.processes[kind.first()];
  const std::string percent = UsedPercent(view);
  return percent.empty() ? KindName(job_, kind) : KindName(job_, kind) + ": " + percent;
}

// Draws the lines between cells in one path; between very small ones they would hide the color.
std::string RankDrawing::Lines() const {
  constexpr double kSmallest = 5;
  std::string path;
  const std::string right = SvgNumber(X(cells_.columns));
  const std::string bottom = SvgNumber(Y(cells_.rows));
  if (cells_.height >= kSmallest)
    for (uint64_t row = 1; row < cells_.rows; ++row)
      path += "M" + SvgNumber(cells_.left) + " " + SvgNumber(Y(row)) + "H" + right;
  if (cells_.width >= kSmallest)
    for (uint64_t column = 1; column < cells_.columns; ++column)
      path += "M" + SvgNumber(X(column)) + " " + SvgNumber(cells_.top) + "V" + bottom;
  return path.empty() ? "" : "<path class=\"cells\" d=\"" + path + "\"/>";
}

bool RankDrawing::Differ(uint64_t row, uint64_t column, uint64_t other_row,
                         uint64_t other_column) const {
  const bool is_inside = other_row < cells_.rows && other_column < cells_.columns;
  return !is_inside || At(row, column).kind != At(other_row, other_column).kind;
}

// Draws the edges between different kinds in one path.
std::string RankDrawing::Outlines() const {
  std::string path;
  const std::string height = SvgNumber(cells_.height);
  const std::string width = SvgNumber(cells_.width);
  for (uint64_t row = 0; row < cells_.rows; ++row) {
    for (uint64_t column = 0; column < cells_.columns; ++column) {
      const std::string corner = SvgNumber(X(column)) + " " + SvgNumber(Y(row));
      // Places before the first one wrap around to numbers that are not inside.
      if (Differ(row, column, row - 1, column)) absl::StrAppend(&path, "M", corner, "h", width);
      if (Differ(row, column, row, column - 1)) absl::StrAppend(&path, "M", corner, "v", height);
      if (row + 1 == cells_.rows)
        path += "M" + SvgNumber(X(column)) + " " + SvgNumber(Y(row + 1)) + "h" + width;
      if (column + 1 == cells_.columns)
        path += "M" + SvgNumber(X(column + 1)) + " " + SvgNumber(Y(row)) + "v" + height;
    }
  }
  return "<path class=\"kinds\" d=\"" + path + "\"/>";
}

// Names the colors that occur, the fullest first.
std::vector<LegendEntry> RankDrawing::Entries() const {
  std::set<std::string, std::greater<>> shades;
  bool has_failed = false;
  bool has_unknown = false;
  for (const Look& look : looks_) {
    if (!look.kind) continue;
    const std::string color = ColorOf(job_, *look.kind);
    has_failed = has_failed || color == "failed";
    has_unknown = has_unknown || color == "share_unknown";
    if (color != "failed" && color != "share_unknown") shades.insert(color);
  }
  std::vector<LegendEntry> entries;
  if (has_failed) entries.push_back({"failed", Message("out of memory")});
  for (const std::string& shade : shades) {
    const int tenth = shade.back() - '0';
    entries.push_back({shade, Message("$0 to $1 % of the card", tenth * 10, (tenth + 1) * 10)});
  }
  if (has_unknown) entries.push_back({"share_unknown", Message("not known")});
  return entries;
}

}  // namespace

std::string AxisWords(const RankGrid& grid, const JobDimension& dimension) {
  if (!grid.by_machine) return PlaceTemplate(dimension);
  return &dimension == &grid.rows ? Message("machine $0", "$0") : Message("card $0", "$0");
}

std::string DrawRanks(const Job& job, const RankGrid& grid) { return RankDrawing(job, grid).Run(); }

}  // namespace memtrace::report
