// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_LAYOUT_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_FIT_LAYOUT_DOCUMENT_H_

#include <string>

#include "tools/fit/ranks/layouts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Says which layouts of a job fit, which of these sends least, and what each needs and costs.
Document LayoutDocument(const fit::LayoutAnswer& answer);

// Returns JSON, schema memtrace.layouts/1.
std::string JsonLayouts(const fit::LayoutAnswer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_LAYOUT_DOCUMENT_H_
