// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_FIT_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_FIT_FIT_DOCUMENT_H_

#include "tools/fit/answer/answer.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Says if the program fits, what each card has to hold, and which remedies make it fit.
Document FitDocument(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_FIT_DOCUMENT_H_
