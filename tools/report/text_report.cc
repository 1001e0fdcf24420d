// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/text_report.h"

#include "messages/message.h"
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
    names = Message("$0 and $1 more", names, FormatCount(run.siblings.size() - kNamed));
  }
  return "\n" + Wrapped(Message("Traces of other processes beside this one: $0", names), 2);
}

// Suggests only commands that exist.
std::string NextSection(const Explanation& explanation, const RunFacts& run) {
  const std::string file = Printable(run.file);
  std::string text = SiblingLine(run) + "\n" +
                     Message("All rows with exact bytes: memtrace report --json $0", file) + "\n";
  const uint64_t failures = explanation.run.counts.out_of_memory;
  if (explanation.failure.got_over) {
    text += Wrapped(
        Message("The request that failed last: memtrace report --oom $0 $1", failures, file), 2);
  }
  if (failures > 1 && explanation.failure.request) {
    const uint64_t number = explanation.failure.request->number;
    text += Wrapped(Message("This is out-of-memory $0 of $1. Another one: "
                            "memtrace report --oom $2 $3",
                            number, failures, number == 1 ? 2 : 1, file),
                    2);
  }
  return text;
}

}  // namespace

std::string TextReport(const Explanation& explanation, const RunFacts& run) {
  return TextOf(ReportDocument(explanation, run)) + NextSection(explanation, run);
}

}  // namespace memtrace::report
