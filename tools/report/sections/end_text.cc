// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/end_text.h"

#include <vector>

#include "tools/analysis/source/annotation.h"
#include "tools/report/sections/verdict_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

// Returns "No out-of-memory in this process. Another one of the run ran out: memtrace report
// run.trace.7".
std::string RanOutBesideSentence(const analysis::Explanation& explanation) {
  const std::vector<std::string>& beside = explanation.failure.ran_out_beside;
  return "No out-of-memory in this process. " +
         (beside.size() == 1 ? "Another one of the run ran"
                             : FormatCount(beside.size()) + " others of the run ran") +
         " out of memory: memtrace report " + Printable(beside.front()) + ".";
}

// Returns " An exception, KeyError, ended the program: what it would have needed later is not in
// these figures."; empty if no exception did, as far as the hooks know.
std::string ExceptionSentence(const analysis::Explanation& explanation) {
  const std::string name = analysis::ExceptionThatEnded(explanation.run.annotations);
  if (name.empty()) return "";
  return " An exception, " + Printable(name) +
         ", ended the program: what it would have needed later is not in these figures.";
}

}  // namespace

// Returns "The program completed. 3 requests for memory failed and were got over; the last: 2.00
// GiB (train.py:9), in step 1, forward."
std::string EndSentence(const analysis::Explanation& explanation) {
  if (!explanation.failure.got_over && explanation.failure.ran_out_beside.empty()) {
    return "No out-of-memory." + ExceptionSentence(explanation);
  }
  if (!explanation.failure.got_over) return RanOutBesideSentence(explanation);
  const analysis::ExplainedRequest& last = *explanation.failure.got_over;
  const std::string failed =
      last.number == 1
          ? "One request for memory failed and was got over: "
          : FormatCount(last.number) + " requests for memory failed and were got over; the last: ";
  return "The program completed. " + failed + FormatBytes(last.bytes) + LineInBrackets(last) +
         ", " + DescribePosition(last.at) + ".";
}

std::string EndWithoutMemorySentence(const analysis::Explanation& explanation) {
  return "No out-of-memory; nothing was allocated on a card." + ExceptionSentence(explanation);
}

std::string LineInBrackets(const analysis::ExplainedRequest& request) {
  const std::string line = analysis::UserLine(request);
  return line.empty() ? "" : " (" + Printable(line) + ")";
}

}  // namespace memtrace::report
