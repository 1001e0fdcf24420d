// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/page.h"

#include "tools/report/page/html_document.h"
#include "tools/report/page/ledger_bar.h"
#include "tools/report/page/page_data.h"
#include "tools/report/page/page_shell.h"
#include "tools/report/page/usage_chart.h"
#include "tools/report/printable.h"
#include "tools/report/report_document.h"
#include "tools/report/text_document.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::RunFacts;

// Nothing is loaded, sent or embedded, whatever the trace says; the one script and the one style
// are ours, and no text becomes markup or code in the browser either (trusted types).
std::string Policy() {
  return "default-src 'none'; script-src '" + std::string(kPageScriptHash) + "'; style-src '" +
         std::string(kPageStyleHash) +
         "'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
         "trusted-types 'none'";
}

std::string Head(const std::string& title) {
  constexpr size_t kMostOfTitle = 120;
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         Policy() +
         "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         HtmlEscaped(Shortened(Printable(title), kMostOfTitle)) + "</title>\n<style>" +
         std::string(kPageStyle) + "</style>\n</head>\n";
}

// Text in a fence, as an issue takes it; selected as a whole with one click.
std::string Ticket(const Document& document) {
  return "<details id=\"ticket\"><summary>As text, for a ticket</summary><pre "
         "tabindex=\"0\">```\n" +
         HtmlEscaped(TextOf(document)) + "```</pre></details>\n";
}

// What is in a template is neither shown nor run.
std::string Data(const std::string& data) {
  return "<template id=\"data\">" + Packed(data) + "</template>\n";
}

// `drawings` stand below the verdict.
std::string PageWith(const std::string& title, const Document& document,
                     const std::string& drawings, const std::string& data) {
  std::string words;
  for (const Section& section : document) {
    words += HtmlOf({section});
    if (section.id == "verdict") words += drawings;
  }
  return Head(title) + "<body>\n<main>\n<h1>memtrace report</h1>\n" + words + Ticket(document) +
         "</main>\n" + data + "<script>" + std::string(kPageScript) +
         "</script>\n</body>\n</html>\n";
}

}  // namespace

std::string Page(const Explanation& explanation, const RunFacts& run,
                 const analysis::RunDetail& detail, const analysis::EventSource& source) {
  const analysis::CardExplanation& card = explanation.cards[explanation.card];
  UsageChart chart{
      .curve = detail.cards[explanation.card].curve, .card = card.index, .card_bytes = {}};
  if (card.ledger.total_known && card.ledger.total > 0) chart.card_bytes = card.ledger.total;
  return PageWith((explanation.request ? "out of memory: " : "") + run.file,
                  ReportDocument(explanation, run), LedgerBars(explanation) + DrawUsage(chart),
                  Data(PageData(run.file, explanation, detail, source)));
}

std::string PageOf(const std::string& title, const Document& document) {
  return PageWith(title, document, "", "");
}

}  // namespace memtrace::report
