// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/page.h"

#include "messages/message.h"
#include "tools/report/page/html_document.h"
#include "tools/report/page/ledger_bar.h"
#include "tools/report/page/page_data.h"
#include "tools/report/page/page_frame.h"
#include "tools/report/page/usage_chart.h"
#include "tools/report/report_document.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::RunFacts;

// `drawings` come below the verdict.
std::string PageWith(const std::string& title, const Document& document,
                     const std::string& drawings, const std::string& data) {
  std::string words;
  for (const Section& section : document) {
    words += HtmlOf({section});
    if (section.id == "verdict") words += drawings;
  }
  return FramedPage({.title = title,
                     .heading = "memtrace report",
                     .main = words + CopyableTextOf(document),
                     .data = data});
}

}  // namespace

std::string Page(const Explanation& explanation, const RunFacts& run,
                 const analysis::RunDetail& detail, const analysis::EventSource& source) {
  const UsageChart chart =
      UsageChartOf(explanation.card_of_verdict(), detail.cards[explanation.card].curve);
  return PageWith(explanation.failure.request ? Message("out of memory: $0", run.file) : run.file,
                  WholeReport(explanation, run), LedgerBars(explanation) + DrawUsage(chart),
                  DataTemplate("data", Packed(PageData(run.file, explanation, detail, source))));
}

std::string PageOf(const std::string& title, const Document& document) {
  return PageWith(title, document, "", "");
}

}  // namespace memtrace::report
