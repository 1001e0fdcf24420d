// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_HTML_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_HTML_DOCUMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/words/document.h"

namespace memtrace::report {

// Escapes text for content and for attributes in double quotes. `text` is Printable().
std::string HtmlEscaped(std::string_view text);

// Returns a <section> with its id for each section that has parts. It uses classes only, no scripts
// or styles. Very long texts are cut.
std::string HtmlOf(const Document& document);

// Returns links to the sections that have a title.
std::string ContentsOf(const Document& document);

// Returns `content` in a frame in which it scrolls if the screen is narrower. The frame takes the
// focus, so that the keyboard scrolls it and screen readers read `name`.
std::string Scrolling(std::string_view name, const std::string& content);

// An entry of a drawing's legend. Its color is that of the class "k-" followed by `name`.
struct LegendEntry {
  std::string name;
  std::string text;
};
std::string LegendOf(const std::vector<LegendEntry>& entries);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_HTML_DOCUMENT_H_
