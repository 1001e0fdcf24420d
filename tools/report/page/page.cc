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

std::string PageWith(const std::string& title, const Document& first, const std::string& drawings,
                     const Document& evidence, const std::string& data) {
  Document all = first;
  all.insert(all.end(), evidence.begin(), evidence.end());
  return FramedPage({.title = title,
                     .heading = "memtrace report",
                     .main = ContentsOf(all) + "<div id=\"first\">\n" + HtmlOf(first) + "</div>\n" +
                             drawings + HtmlOf(evidence) + CopyableTextOf(all),
                     .data = data});
}

}  // namespace

std::string Page(const Explanation& explanation, const RunFacts& run,
                 const analysis::RunDetail& detail, const analysis::EventSource& source) {
  const HeldCard of_verdict{explanation.card_of_verdict(), explanation.holders};
  const UsageChart chart = UsageChartOf(of_verdict.card, detail.cards[explanation.card].curve);
  return PageWith(explanation.failure.request ? Message("out of memory: $0", run.file) : run.file,
                  FirstScreen(explanation, run),
                  LedgerBars(explanation.cards, of_verdict) + DrawUsage(chart),
                  EvidenceSections(explanation, run),
                  DataTemplate("data", Packed(PageData(run.file, explanation, detail, source))));
}

}  // namespace memtrace::report
