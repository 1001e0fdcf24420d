// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/page_frame.h"

#include "tools/report/page/html_document.h"
#include "tools/report/page/page_shell.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

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

}  // namespace

std::string FramedPage(const PageContent& content) {
  return Head(content.title) + "<body>\n<main>\n<h1>" + HtmlEscaped(content.heading) + "</h1>\n" +
         content.main + "</main>\n" + content.data + "<script>" + std::string(kPageScript) +
         "</script>\n</body>\n</html>\n";
}

// In a fence, as an issue takes it; selected as a whole with one click.
std::string TicketOf(const Document& document) {
  return "<details id=\"ticket\"><summary>As text, for a ticket</summary><pre "
         "tabindex=\"0\">```\n" +
         HtmlEscaped(TextOf(document)) + "```</pre></details>\n";
}

std::string DataTemplate(std::string_view id, const std::string& data) {
  return "<template id=\"" + HtmlEscaped(id) + "\">" + data + "</template>\n";
}

}  // namespace memtrace::report
