// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/text_report.h"

#include "tools/report/report_document.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

using analysis::Explanation;
using analysis::RunFacts;

// Names at most as many siblings as fit on about two lines.
std::string SiblingLine(const RunFacts& run) {
  constexpr size_t kNamed = 8;
  if (run.siblings.empty()) return "";
  std::string names;
  for (size_t i = 0; i < run.siblings.size() && i < kNamed; ++i) {
    names += (names.empty() ? "" : ", ") + Printable(run.siblings[i]);
  }
  if (run.siblings.size() > kNamed) {
    names += ", … " + FormatCount(run.siblings.size() - kNamed) + " more";
  }
  return "\n" + Wrapped("traces of other processes beside it: " + names, 2);
}

// Suggests only commands that exist.
std::string NextSection(const Explanation& explanation, const RunFacts& run) {
  const std::string file = Printable(run.file);
  std::string text =
      SiblingLine(run) + "\nall rows, exact bytes: memtrace report --json " + file + "\n";
  const uint64_t failures = explanation.run.counts.out_of_memory;
  if (explanation.failure.got_over)
    text += Wrapped("the request that failed last: memtrace report --oom " +
                        std::to_string(failures) + " " + file,
                    2);
  if (failures > 1 && explanation.failure.request) {
    text += Wrapped("this is out-of-memory " + std::to_string(explanation.failure.request->number) +
                        " of " + std::to_string(failures) + "; another: memtrace report --oom 1 " +
                        file,
                    2);
  }
  return text;
}

}  // namespace

std::string TextReport(const Explanation& explanation, const RunFacts& run) {
  return TextOf(ReportDocument(explanation, run)) + NextSection(explanation, run);
}

}  // namespace memtrace::report
