// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/fit_page.h"

#include "tools/fit/cheapest/frontier.h"
#include "tools/fit/cheapest/plan_space.h"
#include "tools/report/fit/fit_document.h"
#include "tools/report/page/frontier_picture.h"
#include "tools/report/page/html_document.h"
#include "tools/report/page/page_data.h"
#include "tools/report/page/page_frame.h"

namespace memtrace::report {
namespace {

FrontierPicture PictureOf(const fit::Answer& answer) {
  FrontierPicture picture{.points = fit::FrontierOf(answer),
                          .margin_percent = answer.margin_percent};
  if (picture.points.empty()) return picture;
  const size_t card = fit::PlanSpace(answer).card();
  if (card < answer.card_bytes.size()) picture.card_bytes = answer.card_bytes[card];
  return picture;
}

}  // namespace

std::string FitPage(const std::string& command, const fit::Answer& answer) {
  const Document document = FitDocument(answer);
  const FrontierPicture picture = PictureOf(answer);
  const std::string drawing = DrawFrontier(picture);
  return FramedPage({.title = command,
                     .heading = "memtrace fit",
                     .main = ContentsOf(document) + HtmlWith("frontier", document, drawing) +
                             CopyableTextOf(document),
                     .data = drawing.empty()
                                 ? ""
                                 : DataTemplate("frontier-data", Packed(FrontierData(picture)))});
}

}  // namespace memtrace::report
