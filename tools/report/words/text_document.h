// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_TEXT_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_TEXT_DOCUMENT_H_

#include <string>

#include "tools/report/words/document.h"

namespace memtrace::report {

// For a terminal: at most Columns() columns, no colour. Sections are an empty line apart; those
// without parts are left out.
std::string TextOf(const Document& document);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_TEXT_DOCUMENT_H_
