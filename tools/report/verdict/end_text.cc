// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/end_text.h"

#include <cstdint>
#include <vector>

#include "messages/message.h"
#include "tools/analysis/source/annotation.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

// Returns "This process did not run out of memory, but another one of the run did: memtrace report
// run.trace.7."
std::string RanOutBesideSentence(const analysis::Explanation& explanation) {
  const std::vector<std::string>& beside = explanation.failure.ran_out_beside;
  return CountedMessage(
      beside.size(),
      "This process did not run out of memory, but another one of the run did: memtrace report $0.",
      "This process did not run out of memory, but $1 others of the run did. See the first: "
      "memtrace report $0.",
      Printable(beside.front()), FormatCount(beside.size()));
}

// Returns `sentence`, followed by one about the exception that ended the program; without it if
// none did, as far as the hooks know.
std::string WithException(const std::string& sentence, const analysis::Explanation& explanation) {
  const std::string name = analysis::ExceptionThatEnded(explanation.run.annotations);
  if (name.empty()) return sentence;
  return JoinedSentences(
      {sentence, Message("An exception, $0, ended the program. Memory that it would have needed "
                         "later is not in these figures.",
                         Printable(name))});
}

// A request may have failed in the part of a trace that cannot be read.
std::string NoFailureSentence(const analysis::Explanation& explanation) {
  return explanation.run.is_partial
             ? Message("The part of the trace that can be read has no failed request.")
             : Message("The program did not run out of memory.");
}

// Returns what memory of a card that was too full moved to the host (run --spill); "" if none did.
std::string SpilledSentence(const analysis::Explanation& explanation) {
  uint64_t moved = 0;
  uint64_t back = 0;
  for (const analysis::MovedBytes& row : explanation.holders.moved) {
    if (row.device != explanation.card_of_verdict().index) continue;
    if (row.kind == trace::MoveKind::kSpilled) moved += row.bytes;
    if (row.kind == trace::MoveKind::kCameBack) back += row.bytes;
  }
  if (moved == 0) return "";
  if (moved == back)
    return Message(
        "The card was too full, so $0 of its memory moved to the host. All of it came back or was "
        "freed.",
        FormatBytes(moved));
  return Message(
      "The card was too full, so $0 of its memory moved to the host, which has $1 at the end.",
      FormatBytes(moved), FormatBytes(moved - back));
}

// Returns "2.00 GiB (train.py:9)", without the line if the stack has none of the user's.
std::string RequestText(const analysis::ExplainedRequest& request) {
  const std::string line = analysis::UserLine(request);
  return FormatBytes(request.bytes) + (line.empty() ? "" : " (" + Printable(line) + ")");
}

}  // namespace

// Returns "The program completed. 3 requests for memory failed, and the program recovered from
// them. The last was for 2.00 GiB (train.py:9), in step 1, forward."
std::string EndSentence(const analysis::Explanation& explanation) {
  const uint64_t failures = explanation.run.counts.out_of_memory;
  if (failures > 0 && !explanation.failure.got_over)
    return Message("The program ran out of memory. This is its peak, not the failure.");
  if (!explanation.failure.got_over && explanation.failure.ran_out_beside.empty())
    return JoinedSentences(
        {WithException(NoFailureSentence(explanation), explanation), SpilledSentence(explanation)});
  if (!explanation.failure.got_over) return RanOutBesideSentence(explanation);
  const analysis::ExplainedRequest& last = *explanation.failure.got_over;
  return CountedMessage(last.number,
                        "The program completed. One request for memory failed, and the program "
                        "recovered from it: $0, $1.",
                        "The program completed. $2 requests for memory failed, and the program "
                        "recovered from them. The last was for $0, $1.",
                        RequestText(last), DescribePosition(last.at), FormatCount(last.number));
}

std::string EndWithoutMemorySentence(const analysis::Explanation& explanation) {
  const analysis::ExplainedRun& run = explanation.run;
  if (run.is_partial && run.counts.events == 0)
    return Message(
        "Nothing can be said of the run, because no event of the trace can be read. Record the run "
        "again with memtrace run.");
  return WithException(
      run.is_partial
          ? Message("The part of the trace that can be read has no failed request and no "
                    "allocation.")
          : Message("The program did not run out of memory. It allocated nothing on a card."),
      explanation);
}

}  // namespace memtrace::report
