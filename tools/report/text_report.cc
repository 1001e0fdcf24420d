// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/text_report.h"

#include "tools/report/report_document.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {

std::string TextReport(const analysis::Explanation& explanation, const analysis::RunFacts& run,
                       bool verbose) {
  return TextOf(verbose ? WholeReport(explanation, run) : FirstScreenOfTerminal(explanation, run));
}

}  // namespace memtrace::report
