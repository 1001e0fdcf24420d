// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/bench/bench_picture.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using bench::BenchRow;
using bench::BenchTable;

constexpr Colour kGround = {255, 255, 255};
constexpr Colour kInk = {27, 31, 36};
constexpr Colour kFaint = {87, 96, 106};
constexpr Colour kLine = {208, 215, 222};
constexpr std::array<Colour, 9> kCurves = {{{0xd6, 0x45, 0x5d},
                                            {0xe8, 0x87, 0x1e},
                                            {0x7d, 0x4c, 0xc2},
                                            {0x2f, 0x6f, 0xde},
                                            {0x2e, 0x9e, 0x5b},
                                            {0x18, 0x99, 0xa8},
                                            {0x8d, 0x6e, 0x4f},
                                            {0xa3, 0x44, 0x7f},
                                            {0x7f, 0x88, 0x94}}};

constexpr double kWidth = 900;
constexpr double kMargin = 24;
constexpr double kScaleWidth = 84;  // of the numbers beside a chart
constexpr double kChartHeight = 260;
constexpr double kLineHeight = 20;
constexpr double kThickness = 2;
constexpr double kSmall = 11;
constexpr int kScaleLines = 4;

double HeightOf(const BenchTable& table) {
  return kLineHeight * (2 + static_cast<double>(table.rows.size())) + kChartHeight + kMargin;
}

// The chart of one table.
class Chart {
 public:
  Chart(Drawing& drawing, const BenchTable& table, double top)
      : drawing_(drawing), table_(table), top_(top + kLineHeight), bottom_(top_ + kChartHeight) {
    for (const BenchRow& row : table.rows)
      for (const Bytes bytes : row.on_card.in_use) most_ = std::max(most_, bytes);
  }

  void Draw() {
    Write(kMargin, top_ - 8,
          Printable(table_.input) + ": " + Message("reserved memory over the recorded requests"),
          kTextHeight, kInk);
    for (int line = 0; line <= kScaleLines; ++line) Scale(line);
    for (size_t i = 0; i < table_.rows.size(); ++i) {
      const Colour colour = kCurves[i % kCurves.size()];
      Curve(table_.rows[i].on_card.in_use, colour);
      Legend(i, colour);
    }
  }

 private:
  double left() const { return kMargin + kScaleWidth; }
  double width() const { return kWidth - kMargin - left(); }
  double Y(Bytes bytes) const {
    return bottom_ - kChartHeight * static_cast<double>(bytes) / static_cast<double>(most_);
  }
  void Write(double x, double baseline, std::string text, double height, Colour colour) {
    drawing_.shapes.push_back(Label{x, baseline, std::move(text), height, colour});
  }
  void Scale(int line) {
    const Bytes bytes = most_ / kScaleLines * static_cast<Bytes>(line);
    drawing_.shapes.push_back(Rectangle{left(), Y(bytes), width(), 1, kLine});
    Write(kMargin, Y(bytes) + 4, RightAligned(FormatBytes(bytes), 11), kSmall, kFaint);
  }
  // Draws steps: a level for each point, and what joins it to the next one.
  void Curve(const std::vector<Bytes>& bytes, Colour colour) {
    Rectangles curve{.places = {}, .colour = colour};
    const double step = width() / static_cast<double>(std::max<size_t>(1, bytes.size()));
    for (size_t i = 0; i < bytes.size(); ++i) {
      const double x = left() + step * static_cast<double>(i);
      curve.places.push_back({x, Y(bytes[i]), step + kThickness, kThickness});
      if (i + 1 == bytes.size() || bytes[i] == bytes[i + 1]) continue;
      const auto [upper, lower] = std::minmax({Y(bytes[i]), Y(bytes[i + 1])});
      curve.places.push_back({x + step, upper, kThickness, lower - upper + kThickness});
    }
    if (!curve.places.empty()) drawing_.shapes.push_back(std::move(curve));
  }
  void Legend(size_t i, Colour colour) {
    const BenchRow& row = table_.rows[i];
    const double baseline = bottom_ + kLineHeight * (static_cast<double>(i) + 1.5);
    drawing_.shapes.push_back(Rectangle{left(), baseline - 8, 14, 8, colour});
    const std::string smallest =
        row.smallest ? Message("smallest card $0", FormatBytes(*row.smallest)) : "";
    Write(left() + 24, baseline,
          LeftAligned(Printable(row.allocator), 24) +
              RightAligned(FormatBytes(row.on_card.peak), 12) + "  " + smallest,
          kSmall, kInk);
  }

  Drawing& drawing_;
  const BenchTable& table_;
  const double top_;
  const double bottom_;
  Bytes most_ = 1;
};

}  // namespace

Drawing BenchPicture(const BenchResult& result) {
  Drawing drawing{.width = kWidth, .height = kMargin, .ground = kGround, .shapes = {}};
  for (const BenchTable& table : result.tables) {
    Chart(drawing, table, drawing.height).Draw();
    drawing.height += HeightOf(table) + kMargin;
  }
  return drawing;
}

}  // namespace memtrace::report
