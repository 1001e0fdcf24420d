// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/diff_page.h"

#include <algorithm>

#include "messages/message.h"
#include "tools/report/page/card_name.h"
#include "tools/report/page/html_document.h"
#include "tools/report/page/ledger_bar.h"
#include "tools/report/page/page_data.h"
#include "tools/report/page/page_frame.h"
#include "tools/report/page/usage_chart.h"

namespace memtrace::report {
namespace {

HeldCard HeldCardOf(const DiffSide& side) { return {side.card(), side.explanation.holders}; }

UsageChart ChartOf(const DiffSide& side, const RunPicture& picture, Side which) {
  UsageChart chart = UsageChartOf(side.card(), picture.curves[side.explanation.card]);
  chart.side = which;
  return chart;
}

// Draws both sides to one scale, or one chart if both would be the same. The script replaces them
// by its views.
std::string Charts(UsageChart before, UsageChart after) {
  before.least_top = after.least_top = std::max(TopOf(before), TopOf(after));
  const bool is_one = &before.curve == &after.curve;
  if (is_one) before.side = Side::kBoth;
  return "<section id=\"runs\" aria-label=\"" + HtmlEscaped(Message("Memory over the runs")) +
         "\">\n" + DrawUsage(before) + (is_one ? "" : DrawUsage(after)) + "</section>\n";
}

}  // namespace

RunPicture PictureOf(const DiffSide& side, const analysis::RunDetail& detail,
                     const analysis::EventSource& source, const DiffSide* after) {
  RunPicture picture;
  for (const analysis::CardDetail& card : detail.cards) picture.curves.push_back(card.curve);
  picture.data = Packed(PageData(side.run.file, side.explanation, detail, source,
                                 after == nullptr ? nullptr : &after->explanation));
  return picture;
}

std::string DiffPage(const DiffSide& before, const DiffSide& after, const DiffStyle& style,
                     const RunPicture& picture_before, const RunPicture* picture_after) {
  const Document document = DiffDocument(before, after, style);
  const RunPicture& other = picture_after == nullptr ? picture_before : *picture_after;
  const std::string data =
      DataTemplate("data-before", picture_before.data) +
      (picture_after == nullptr ? "" : DataTemplate("data-after", picture_after->data));
  return FramedPage({.title = Message("$0 and $1", before.run.file, after.run.file),
                     .heading = "memtrace diff",
                     .main = HtmlWith("changed", document,
                                      LedgerBarsOfTwo(HeldCardOf(before), HeldCardOf(after))) +
                             Charts(ChartOf(before, picture_before, Side::kBefore),
                                    ChartOf(after, other, Side::kAfter)) +
                             CopyableTextOf(document),
                     .data = data});
}

}  // namespace memtrace::report
