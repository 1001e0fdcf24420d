// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PAGE_PAGE_FRAME_H_
#define MEMTRACE_TOOLS_REPORT_PAGE_PAGE_FRAME_H_

#include <string>
#include <string_view>

#include "tools/report/words/document.h"

namespace memtrace::report {

// What differs from page to page.
struct PageContent {
  std::string title;         // the window's, of whatever text
  std::string_view heading;  // "memtrace report"
  std::string main;          // HTML
  std::string data;          // of templates
};

// A page with our policy, style and script: nothing is loaded, sent or embedded, whatever it says.
std::string FramedPage(const PageContent& content);

// The document as text, to be copied.
std::string TicketOf(const Document& document);

// Neither shown nor run: the script looks for it by its id.
std::string DataTemplate(std::string_view id, const std::string& data);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PAGE_PAGE_FRAME_H_
