// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_HTML_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_HTML_DOCUMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/words/document.h"

namespace memtrace::report {

// For text and for attributes in double quotes. `text` is Printable().
std::string HtmlEscaped(std::string_view text);

// A <section> for each section of the document that has parts, with its id. No scripts, no styles:
// classes alone. Texts longer than a page has use for are cut.
std::string HtmlOf(const Document& document);

// `content` with a frame in which it scrolls where the screen is narrower. The frame takes the
// focus, so that the keyboard scrolls it, and then `name` is read out.
std::string Scrolling(std::string_view name, const std::string& content);

// What the colours of a drawing are: `name` has the class "k-" and it.
struct LegendEntry {
  std::string name;
  std::string text;
};
std::string LegendOf(const std::vector<LegendEntry>& entries);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_HTML_DOCUMENT_H_
