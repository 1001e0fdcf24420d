// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/picture/report_picture.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/report/report_document.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/text_document.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using trace::Role;

constexpr Colour kGround = {255, 255, 255};
constexpr Colour kInk = {27, 31, 36};
constexpr Colour kFaint = {87, 96, 106};
constexpr Colour kLine = {208, 215, 222};
constexpr Colour kAccent = {11, 87, 208};
constexpr Colour kFailed = {164, 14, 38};

constexpr double kMargin = 24;
constexpr double kLineHeight = 20;
constexpr double kChartHeight = 220;
constexpr double kScaleWidth = 80;  // of the numbers beside the chart
constexpr double kSmall = 11;       // height of the chart's text

struct RoleColour {
  Role role;
  Colour colour;
};

// From the ground up, as on the page; the colours are those of page.css.
constexpr std::array<RoleColour, analysis::kRoles> kRoleColours = {
    RoleColour{Role::kParameter, {0x2f, 0x6f, 0xde}},
    {Role::kBuffer, {0x5a, 0xa9, 0xe6}},
    {Role::kOptimizerState, {0x7d, 0x4c, 0xc2}},
    {Role::kCheckpoint, {0xa3, 0x44, 0x7f}},
    {Role::kKvCache, {0x18, 0x99, 0xa8}},
    {Role::kWorkspace, {0x8d, 0x6e, 0x4f}},
    {Role::kGradient, {0xe8, 0x87, 0x1e}},
    {Role::kComm, {0xd1, 0x74, 0xb8}},
    {Role::kInput, {0x86, 0xa4, 0xc8}},
    {Role::kActivation, {0x2e, 0x9e, 0x5b}},
    {Role::kTemporary, {0xd6, 0x45, 0x5d}},
    {Role::kUnknown, {0x7f, 0x88, 0x94}}};

// Draws lines of a terminal, with bars as rectangles.
class Lines {
 public:
  explicit Lines(Drawing& drawing) : drawing_(drawing) {}

  void Write(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      WriteLine(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      bottom_ += kLineHeight;
    }
  }
  double bottom() const { return bottom_; }

 private:
  // The blocks of Bar() are U+2588 (a whole column) to U+258F (an eighth): three bytes, of which
  // the last one counts.
  static double BlockWidth(std::string_view text, size_t at) {
    if (text.substr(at, 2) != "\xe2\x96" || at + 2 >= text.size()) return 0;
    const auto last = static_cast<unsigned char>(text[at + 2]);
    return last >= 0x88 && last <= 0x8f ? (0x90 - last) / 8.0 : 0;
  }

  void WriteLine(std::string_view line) {
    const bool is_title = !line.empty() && line.front() != ' ';
    size_t begin = 0;
    for (size_t at = 0; at < line.size(); ++at) {
      const double width = BlockWidth(line, at);
      if (width == 0) continue;
      WriteText(line, begin, at, is_title);
      drawing_.shapes.emplace_back(
          Rectangle{X(line, at), bottom_ + 4, width * kColumnWidth, kLineHeight - 8, kAccent});
      begin = at + 3;
      at += 2;
    }
    WriteText(line, begin, line.size(), is_title);
  }
  void WriteText(std::string_view line, size_t begin, size_t end, bool is_title) {
    const std::string_view text = line.substr(begin, end - begin);
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return;
    drawing_.shapes.emplace_back(Label{X(line, begin + first), bottom_ + kLineHeight - 5,
                                       std::string(text.substr(first)), kTextHeight,
                                       is_title ? kInk : kFaint});
  }
  static double X(std::string_view line, size_t at) {
    return kMargin + static_cast<double>(Width(line.substr(0, at))) * kColumnWidth;
  }

  Drawing& drawing_;
  double bottom_ = kMargin;
};

// Draws what the card held, by role, over the events of the run.
class Chart {
 public:
  Chart(Drawing& drawing, const analysis::UsageCurve& curve, uint64_t card, double top)
      : drawing_(drawing), curve_(curve), card_(card), top_(top) {
    for (const analysis::UsageColumn& column : curve.columns)
      most_ = std::max({most_, column.most, card});
  }

  void Draw() {
    Scale();
    Columns();
    if (card_ > 0)
      drawing_.shapes.emplace_back(Rectangle{left(), Y(card_), right() - left(), 1.5, kInk});
    for (const analysis::FailureMark& failure : curve_.failures) {
      drawing_.shapes.emplace_back(Rectangle{X(failure.event) - 1, top_, 2, kChartHeight, kFailed});
    }
    Legend();
  }

 private:
  static double left() { return kMargin + kScaleWidth; }
  double right() const { return drawing_.width - kMargin; }
  double X(uint64_t event) const {
    const auto events = static_cast<double>(std::max<uint64_t>(curve_.events, 1));
    return left() + (right() - left()) * static_cast<double>(event - 1) / events;
  }
  double Y(uint64_t bytes) const {
    const double part =
        static_cast<double>(bytes) / (static_cast<double>(std::max<uint64_t>(most_, 1)) * 1.04);
    return top_ + kChartHeight * (1 - part);
  }
  void Write(double x, double baseline, const std::string& text) {
    drawing_.shapes.emplace_back(Label{x, baseline, text, kSmall, kFaint});
  }

  void Scale() {
    const uint64_t top = std::max<uint64_t>(most_, 3);
    const uint64_t step = std::bit_floor(top / 3);
    for (uint64_t bytes = 0; bytes <= top; bytes += step) {
      const double y = Y(bytes);
      drawing_.shapes.emplace_back(Rectangle{left(), y, right() - left(), 1, kLine});
      const std::string text = bytes == 0 ? "0" : FormatBytes(bytes);
      Write(left() - 6 - static_cast<double>(text.size()) * kColumnWidth * kSmall / kTextHeight,
            y + 4, text);
    }
  }

  // Draws one column a pixel: of those that share it, the one with most memory.
  void Columns() {
    std::array<Rectangles, analysis::kRoles> layers;
    for (size_t i = 0; i < kRoleColours.size(); ++i) layers[i].colour = kRoleColours[i].colour;
    for (size_t i = 0; i < curve_.columns.size();) {
      size_t next = i + 1;
      size_t most = i;
      while (next < curve_.columns.size() && X(curve_.columns[next].first_event) < BeginOf(i) + 1) {
        if (curve_.columns[next].most > curve_.columns[most].most) most = next;
        ++next;
      }
      Stack(curve_.columns[most], BeginOf(i), EndBefore(next), layers);
      i = next;
    }
    for (Rectangles& layer : layers)
      if (!layer.places.empty()) drawing_.shapes.emplace_back(std::move(layer));
  }
  double BeginOf(size_t column) const { return X(curve_.columns[column].first_event); }
  double EndBefore(size_t column) const {
    return column < curve_.columns.size() ? BeginOf(column) : right();
  }

  void Stack(const analysis::UsageColumn& column, double x, double end,
             std::array<Rectangles, analysis::kRoles>& layers) const {
    uint64_t below = 0;
    for (size_t i = 0; i < kRoleColours.size(); ++i) {
      const uint64_t bytes = column.by_role[static_cast<size_t>(kRoleColours[i].role)];
      if (bytes == 0) continue;
      const double y = Y(below + bytes);
      layers[i].places.push_back({x, y, end - x, Y(below) - y});
      below += bytes;
    }
  }

  void Legend() {
    double x = left();
    const double baseline = top_ + kChartHeight + kLineHeight;
    for (const auto& [role, colour] : kRoleColours) {
      uint64_t most = 0;
      for (const analysis::UsageColumn& column : curve_.columns)
        most = std::max(most, column.by_role[static_cast<size_t>(role)]);
      if (most < most_ / 100 || most == 0) continue;
      const std::string text = RoleWords(role);
      drawing_.shapes.emplace_back(Rectangle{x, baseline - 9, 10, 10, colour});
      Write(x + 15, baseline, text);
      x += 15 + static_cast<double>(Width(text) + 2) * kColumnWidth * kSmall / kTextHeight;
    }
  }

  Drawing& drawing_;
  const analysis::UsageCurve& curve_;
  const uint64_t card_;
  const double top_;
  uint64_t most_ = 0;
};

}  // namespace

Drawing ReportPicture(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                      const analysis::UsageCurve& curve) {
  Drawing drawing{.width = 2 * kMargin + static_cast<double>(kColumns) * kColumnWidth,
                  .ground = kGround,
                  .shapes = {}};
  Lines lines(drawing);
  lines.Write(TextOf(FirstScreen(explanation, run)));
  drawing.height = lines.bottom() + kMargin;
  if (curve.columns.empty()) return drawing;
  const analysis::Ledger& ledger = explanation.card_of_verdict().ledger;
  lines.Write("\n" + Message("CARD MEMORY OVER THE RUN") + "\n");
  Chart(drawing, curve, ledger.total_known ? ledger.total : 0, lines.bottom() + 8).Draw();
  drawing.height = lines.bottom() + 8 + kChartHeight + 2 * kLineHeight + kMargin;
  return drawing;
}

}  // namespace memtrace::report
