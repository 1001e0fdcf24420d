// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/frontier_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/fit/frontier_section.h"
#include "tools/report/page/frontier_plot.h"
#include "tools/report/page/html_document.h"
#include "tools/report/page/svg_number.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using fit::FrontierPoint;

std::string WordsOf(const FrontierPoint& point, uint64_t margin_percent) {
  return JoinedSentences(
      {Message("$0: needs $1, a step takes $2 times as long; $3.", PointName(point),
               FormatBytes(point.needs), TimeText(point.time), PointVerdict(point, margin_percent)),
       point.is_plan ? Message("It is the cheapest plan that leaves the margin.") : "",
       point.may_change_results ? Message("It may change results.") : "",
       point.takes_another_card ? Message("It takes another card.") : ""});
}

std::vector<FrontierPoint> ByNeeds(std::vector<FrontierPoint> points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.needs < b.needs; });
  return points;
}

class FrontierDrawing {
 public:
  explicit FrontierDrawing(const FrontierPicture& picture)
      : picture_(picture),
        points_(ByNeeds(picture.points)),
        plot_(picture.points, picture.card_bytes) {}

  std::string Run() const {
    const std::string name = Message(
        "Memory that each run needs, against the time of its step. The tables have the same "
        "figures.");
    return "<figure class=\"frontier\"><figcaption>" + HtmlEscaped(Caption()) + "</figcaption>" +
           Scrolling(Message("drawing of memory against time"),
                     "<svg role=\"img\" aria-label=\"" + HtmlEscaped(name) +
                         "\" viewBox=\"0 0 1000 360\">" + Grid() + Cards() + Line() + Points() +
                         Names() + "</svg>") +
           Legend() + "</figure>\n";
  }

  std::string Data() const {
    nlohmann::json points = nlohmann::json::array();
    for (const FrontierPoint& point : points_)
      points.push_back(
          {{"x", X(point)}, {"y", Y(point)}, {"words", WordsOf(point, picture_.margin_percent)}});
    return nlohmann::json{{"schema", "memtrace.frontier/1"}, {"points", std::move(points)}}.dump();
  }

 private:
  double X(const FrontierPoint& point) const { return plot_.X(static_cast<double>(point.needs)); }
  double Y(const FrontierPoint& point) const { return plot_.Y(point.time); }

  std::string Caption() const {
    std::vector<std::string> parts = {
        Message("across: memory needed"),
        Message("up: the time of a step, estimated, as a multiple of the unchanged program's")};
    if (picture_.card_bytes > 0) parts.push_back(Message("red line: the card"));
    if (picture_.card_bytes > 0 && picture_.margin_percent > 0)
      parts.push_back(Message("dashed: $0 % less", picture_.margin_percent));
    return absl::StrJoin(parts, Message("; "));
  }

  static std::string Vertical(std::string_view style, double x) {
    return "<path class=\"" + std::string(style) + "\" d=\"M" + SvgNumber(x) + " " +
           SvgNumber(FrontierPlot::kTop) + "V" + SvgNumber(FrontierPlot::kBottom) + "\"/>";
  }

  static std::string Text(std::string_view style, double x, double y, const std::string& text) {
    return "<text class=\"" + std::string(style) + "\" x=\"" + SvgNumber(x) + "\" y=\"" +
           SvgNumber(y) + "\">" + HtmlEscaped(text) + "</text>";
  }

  std::string Grid() const {
    constexpr double kBelow = 18;
    std::string svg;
    for (const double bytes : plot_.BytesTicks()) {
      svg += Vertical("grid", plot_.X(bytes)) + Text("across", plot_.X(bytes),
                                                     FrontierPlot::kBottom + kBelow,
                                                     FormatBytes(static_cast<uint64_t>(bytes)));
    }
    for (const double time : plot_.TimeTicks()) {
      svg += "<path class=\"grid\" d=\"M" + SvgNumber(FrontierPlot::kLeft) + " " +
             SvgNumber(plot_.Y(time)) + "H" + SvgNumber(FrontierPlot::kRight) + "\"/>" +
             Text("scale", FrontierPlot::kLeft - 8, plot_.Y(time) + 4, TimeText(time));
    }
    return svg;
  }

  std::string Cards() const {
    if (picture_.card_bytes == 0) return "";
    const auto card = static_cast<double>(picture_.card_bytes);
    std::string svg = Vertical("card", plot_.X(card));
    if (picture_.margin_percent > 0) {
      const double left = static_cast<double>(100 - picture_.margin_percent) / 100;
      svg += Vertical("reserved", plot_.X(card * left));
    }
    return svg;
  }

  // Joins the runs that no other beats and that keep the results, as stairs: between two of them
  // only the slower one is known to be possible.
  std::string Line() const {
    std::string path;
    double height = 0;
    for (const FrontierPoint& point : points_) {
      if (!point.is_on_frontier || point.has_price()) continue;
      path += path.empty() ? "M" + SvgNumber(X(point)) + " " + SvgNumber(Y(point))
                           : "H" + SvgNumber(X(point)) + "V" + SvgNumber(Y(point));
      height = Y(point);
    }
    return height == 0 ? "" : "<path class=\"front\" d=\"" + path + "\"/>";
  }

  static std::string StyleOf(const FrontierPoint& point) {
    std::string style = point.is_plan ? "plan" : point.is_on_frontier ? "best" : "beaten";
    if (!point.fits) style += " large";
    return style;
  }

  // Draws a diamond for what has a price, else a circle.
  std::string Shape(const FrontierPoint& point) const {
    const double size = point.is_plan ? 8 : 5;
    const std::string style = StyleOf(point);
    const std::string place = SvgNumber(X(point)) + " " + SvgNumber(Y(point));
    const std::string title =
        "<title>" + HtmlEscaped(WordsOf(point, picture_.margin_percent)) + "</title>";
    if (!point.has_price())
      return "<circle class=\"" + style + "\" cx=\"" + SvgNumber(X(point)) + "\" cy=\"" +
             SvgNumber(Y(point)) + "\" r=\"" + SvgNumber(size) + "\">" + title + "</circle>";
    const std::string side = SvgNumber(size + 1);
    return "<path class=\"" + style + "\" d=\"M" + place + "m0 -" + side + "l" + side + " " + side +
           "l-" + side + " " + side + "l-" + side + " -" + side + "z\">" + title + "</path>";
  }

  std::string Points() const {
    std::string svg;
    for (const FrontierPoint& point : points_)
      if (!point.is_plan) svg += Shape(point);
    for (const FrontierPoint& point : points_)
      if (point.is_plan) svg += Shape(point);
    return svg;
  }

  // Names the plan above its point and the unchanged program below, on the side that has room.
  std::string Names() const {
    constexpr double kBeside = 13;
    constexpr double kBelow = 22;
    std::string svg;
    for (const FrontierPoint& point : points_) {
      if (!point.changes.empty() && !point.is_plan) continue;
      const bool is_right = X(point) > (FrontierPlot::kLeft + FrontierPlot::kRight) / 2;
      svg += Text(is_right ? "name before" : "name", X(point) + (is_right ? -kBeside : kBeside),
                  Y(point) + (point.is_plan ? -kBeside : kBelow), PointName(point));
    }
    return svg;
  }

  std::string Legend() const {
    const auto has = [this](const auto& is) {
      return std::any_of(points_.begin(), points_.end(), is);
    };
    std::vector<LegendEntry> entries;
    if (has([](const FrontierPoint& point) { return point.is_plan; }))
      entries.push_back({"plan", Message("the cheapest plan")});
    entries.push_back({"best", Message("no other run needs less memory and less time")});
    if (has([](const FrontierPoint& point) { return !point.is_on_frontier; }))
      entries.push_back({"beaten", Message("another run needs less of both")});
    if (has([](const FrontierPoint& point) { return point.has_price(); }))
      entries.push_back({"diamond", Message("diamond: may change results, or takes another card")});
    return LegendOf(entries);
  }

  const FrontierPicture& picture_;
  std::vector<FrontierPoint> points_;
  FrontierPlot plot_;
};

}  // namespace

std::string DrawFrontier(const FrontierPicture& picture) {
  return picture.points.size() < 2 ? "" : FrontierDrawing(picture).Run();
}

std::string FrontierData(const FrontierPicture& picture) { return FrontierDrawing(picture).Data(); }

}  // namespace memtrace::report
