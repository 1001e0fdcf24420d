// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/usage_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "tools/report/page/html_document.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::UsageColumn;
using analysis::UsageCurve;
using trace::Role;

// The sizes of the drawing in units.
constexpr double kWidth = 1000;
constexpr double kHeight = 320;
constexpr double kChartLeft = 70;
constexpr double kChartRight = kWidth - 6;  // so that a mark at the end is not cut off
constexpr double kChartTop = 14;
constexpr double kLabel = 72;  // "step 12345"
constexpr double kBottom = kHeight - 26;

// The order from the ground up: lasting roles lie below those that come and go.
constexpr std::array<Role, analysis::kRoles> kOrder = {
    Role::kParameter, Role::kBuffer,     Role::kOptimizerState, Role::kCheckpoint,
    Role::kKvCache,   Role::kWorkspace,  Role::kGradient,       Role::kComm,
    Role::kInput,     Role::kActivation, Role::kTemporary,      Role::kUnknown};

// Formats a number to a tenth of a unit.
std::string ChartNumber(double value) {
  const auto tenths = std::lround(value * 10);
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += "." + std::to_string(std::abs(tenths % 10));
  return text;
}

class UsageDrawing {
 public:
  explicit UsageDrawing(const UsageChart& chart)
      : chart_(chart), curve_(chart.curve), peak_(Highest()) {
    top_ = static_cast<double>(std::max({TopOf(chart), chart.least_top, uint64_t{1}})) * 1.04;
  }

  std::string Run() const {
    const std::string name = Name();
    return "<figure class=\"usage\"><figcaption>" + Caption() + "</figcaption>" +
           Scrolling(
               Message("drawing of $0", name),
               "<svg role=\"img\" aria-label=\"" +
                   HtmlEscaped(Message("Memory in use on $0 over the run, by role. The tables have "
                                       "the same figures.",
                                       name)) +
                   "\" viewBox=\"0 0 1000 320\">" + Grid() + Layers() + Reserved() + CardLine() +
                   Marks() + "</svg>") +
           Legend() + "</figure>\n";
  }

 private:
  const UsageColumn& Highest() const {
    return *std::max_element(
        curve_.columns.begin(), curve_.columns.end(),
        [](const UsageColumn& a, const UsageColumn& b) { return a.most < b.most; });
  }

  std::string Name() const { return CardName(chart_.card, chart_.side); }

  std::string Caption() const {
    std::vector<std::string> parts = {Message("$0, memory in use by role over the run", Name()),
                                      Message("dashed: reserved by the allocator")};
    if (chart_.card_bytes) parts.push_back(Message("top line: the card"));
    if (curve_.events_of_column > 1) {
      parts.push_back(
          Message("each column is the highest of $0 events", FormatCount(curve_.events_of_column)));
    }
    return HtmlEscaped(absl::StrJoin(parts, Message("; ")));
  }

  // Names each role with its most bytes at any time.
  std::string Legend() const {
    std::vector<LegendEntry> entries;
    for (const Role role : kOrder) {
      const uint64_t most = PeakOfRole(role);
      const std::string name(RoleName(role));
      if (static_cast<double>(most) >= top_ / 200)
        entries.push_back({name, Message("$0, at most $1", RoleWords(role), FormatBytes(most))});
    }
    return LegendOf(entries);
  }
  uint64_t PeakOfRole(Role role) const {
    uint64_t most = 0;
    for (const UsageColumn& column : curve_.columns)
      most = std::max(most, column.by_role[static_cast<size_t>(role)]);
    return most;
  }

  double X(double event) const {
    const auto events = static_cast<double>(std::max<uint64_t>(curve_.events, 1));
    return kChartLeft + (kChartRight - kChartLeft) * (event - 1) / events;
  }
  double Y(uint64_t bytes) const {
    return kBottom - (kBottom - kChartTop) * static_cast<double>(bytes) / top_;
  }
  // Returns the right edge of a column.
  double EndOf(size_t column) const {
    return column + 1 < curve_.columns.size()
               ? X(static_cast<double>(curve_.columns[column + 1].first_event))
               : kChartRight;
  }
  double BeginOf(size_t column) const {
    return X(static_cast<double>(curve_.columns[column].first_event));
  }

  // Draws about four round steps of the scale.
  std::string Grid() const {
    double step = std::exp2(std::floor(std::log2(top_ / 3)));
    if (top_ / step > 6) step *= 2;
    std::string svg;
    for (int i = 0; i * step < top_; ++i) svg += GridLine(static_cast<uint64_t>(i * step));
    return svg;
  }
  std::string GridLine(uint64_t bytes) const {
    return "<path class=\"grid\" d=\"M" + ChartNumber(kChartLeft) + " " + ChartNumber(Y(bytes)) +
           "H" + ChartNumber(kChartRight) + "\"/><text class=\"scale\" x=\"" +
           ChartNumber(kChartLeft - 6) + "\" y=\"" + ChartNumber(Y(bytes) + 4) + "\">" +
           (bytes == 0 ? "0" : FormatBytes(bytes)) + "</text>";
  }

  // Returns the upper edge of some values of the columns, from left to right.
  std::string Edge(const std::vector<uint64_t>& values) const {
    std::string path = "M" + ChartNumber(BeginOf(0)) + " " + ChartNumber(Y(values[0]));
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_same = i + 1 < values.size() && values[i + 1] == values[i];
      if (is_same) continue;
      path += "H" + ChartNumber(EndOf(i));
      if (i + 1 < values.size()) path += "V" + ChartNumber(Y(values[i + 1]));
    }
    return path;
  }

  std::string Layer(Role role, uint64_t most, const std::vector<uint64_t>& edge) const {
    const std::string name(RoleName(role));
    return "<path class=\"k-" + name + "\" d=\"" + Edge(edge) + "V" + ChartNumber(kBottom) + "H" +
           ChartNumber(BeginOf(0)) + "Z\"><title>" +
           HtmlEscaped(Message("$0, at most $1", RoleWords(role), FormatBytes(most))) +
           "</title></path>";
  }

  // Draws each layer from the ground to its upper edge, the highest first, so that lower ones cover
  // it.
  std::string Layers() const {
    std::vector<uint64_t> edge(curve_.columns.size(), 0);
    std::vector<std::string> layers;
    for (const Role role : kOrder) {
      const uint64_t most = PeakOfRole(role);
      if (most == 0) continue;
      for (size_t i = 0; i < edge.size(); ++i)
        edge[i] += curve_.columns[i].by_role[static_cast<size_t>(role)];
      layers.push_back(Layer(role, most, edge));
    }
    std::string svg;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) svg += *layer;
    return svg;
  }

  std::string Reserved() const {
    std::vector<uint64_t> reserved;
    reserved.reserve(curve_.columns.size());
    for (const UsageColumn& column : curve_.columns) reserved.push_back(column.reserved);
    const bool is_told =
        std::any_of(reserved.begin(), reserved.end(), [](uint64_t bytes) { return bytes > 0; });
    return is_told ? "<path class=\"reserved\" d=\"" + Edge(reserved) + "\"/>" : "";
  }

  std::string CardLine() const {
    if (!chart_.card_bytes) return "";
    return "<path class=\"card\" d=\"M" + ChartNumber(kChartLeft) + " " +
           ChartNumber(Y(*chart_.card_bytes)) + "H" + ChartNumber(kChartRight) + "\"/>";
  }

  std::string Marks() const {
    std::string svg;
    double free_from = 0;  // labels must not overlap
    for (const analysis::StepMark& step : curve_.steps) {
      const double x = X(static_cast<double>(step.event));
      if (x < free_from || x > kChartRight - kLabel) continue;
      free_from = x + kLabel;
      svg += "<path class=\"tick\" d=\"M" + ChartNumber(x) + " " + ChartNumber(kBottom) +
             "v6\"/><text class=\"step\" x=\"" + ChartNumber(x + 3) + "\" y=\"" +
             ChartNumber(kBottom + 15) + "\">" + HtmlEscaped(Message("step $0", step.step)) +
             "</text>";
    }
    for (const analysis::FailureMark& failure : curve_.failures) {
      const double x = X(static_cast<double>(failure.event));
      svg += "<path class=\"failed\" d=\"M" + ChartNumber(x) + " " + ChartNumber(kChartTop) + "V" +
             ChartNumber(kBottom) + "\"><title>" +
             HtmlEscaped(Message("out of memory, event $0", FormatCount(failure.event))) +
             "</title></path>";
    }
    const double x = X(static_cast<double>(peak_.first_event));
    return svg + "<circle class=\"peak\" cx=\"" + ChartNumber(x) + "\" cy=\"" +
           ChartNumber(Y(peak_.most)) + "\" r=\"4\"><title>" +
           HtmlEscaped(Message("peak: $0", FormatBytes(peak_.most))) + "</title></circle>";
  }

  const UsageChart& chart_;
  const UsageCurve& curve_;
  const UsageColumn& peak_;
  double top_ = 1;
};

}  // namespace

UsageChart UsageChartOf(const analysis::CardExplanation& card, const UsageCurve& curve) {
  UsageChart chart{.curve = curve, .card = card.index, .card_bytes = {}};
  if (card.ledger.total_known && card.ledger.total > 0) chart.card_bytes = card.ledger.total;
  return chart;
}

uint64_t TopOf(const UsageChart& chart) {
  uint64_t top = chart.card_bytes.value_or(0);
  for (const UsageColumn& column : chart.curve.columns)
    top = std::max({top, column.most, column.reserved});
  return top;
}

std::string DrawUsage(const UsageChart& chart) {
  return chart.curve.columns.empty() ? "" : UsageDrawing(chart).Run();
}

}  // namespace memtrace::report
