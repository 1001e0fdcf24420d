// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_TEXT_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_TEXT_DOCUMENT_H_

#include <string>

#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns text for a terminal: at most Columns() columns, no color. Sections are separated by an
// empty line; those without parts are left out.
std::string TextOf(const Document& document);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_TEXT_DOCUMENT_H_
