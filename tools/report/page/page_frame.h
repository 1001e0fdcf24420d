// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_PAGE_FRAME_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_PAGE_FRAME_H_

#include <string>
#include <string_view>

#include "tools/report/words/document.h"

namespace memtrace::report {

// The parts that differ from page to page.
struct PageContent {
  std::string title;         // the window's title; any text
  std::string_view heading;  // "memtrace report"
  std::string main;          // HTML
  std::string data;          // HTML templates with data
};

// Returns a page with our policy, style and script, which cannot load, send or embed anything.
std::string FramedPage(const PageContent& content);

// Returns the document as HTML, with `drawing` (HTML) below the section that is called `id`.
std::string HtmlWith(std::string_view id, const Document& document, const std::string& drawing);

// Returns the document as text, to be copied.
std::string CopyableTextOf(const Document& document);

// Returns data that is neither shown nor run; the script finds it by its id.
std::string DataTemplate(std::string_view id, const std::string& data);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_PAGE_FRAME_H_
