// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/job_text.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/rank_words.h"

namespace memtrace::report {
namespace {

using analysis::Job;
using analysis::ProcessView;

template <typename Test>
size_t Count(const Job& job, const Test& test) {
  return static_cast<size_t>(
      std::count_if(job.processes.begin(), job.processes.end(),
                    [&test](const ProcessView& view) { return view.is_readable() && test(view); }));
}

bool Failed(const ProcessView& view) { return view.first_failure.has_value(); }

// True if the trace does not say whether the process ran out of memory.
bool EndIsUnknown(const ProcessView& view) { return !view.end_is_known() && !Failed(view); }

// Returns the fullest process: by its share of the card if card sizes are known, else by its peak.
const ProcessView* Fullest(const Job& job) {
  const ProcessView* fullest = nullptr;
  const auto fullness = [](const ProcessView& view) {
    return std::pair(analysis::UsedShare(view).value_or(0), view.peak);
  };
  for (const ProcessView& view : job.processes) {
    if (!view.is_readable()) continue;
    if (fullest == nullptr || fullness(*fullest) < fullness(view)) fullest = &view;
  }
  return fullest;
}

std::string FullestText(const Job& job) {
  const ProcessView& view = *Fullest(job);
  const std::string places = PlacesOf(job, view);
  return JoinedSentences(
      {places.empty() ? Message("The fullest was $0.", ProcessName(view))
                      : Message("The fullest was $0: $1.", ProcessName(view), places),
       view.used ? Message("It used $0 of its card's $1 ($2).", FormatBytes(*view.used),
                           FormatBytes(view.card_bytes), UsedPercent(view))
                 : "",
       view.peak == 0 ? ""
                      : Message("Its peak of $0 requested was $1.", FormatBytes(view.peak),
                                DescribePosition(view.peak_at))});
}

// The words of a cause as a sentence and in a cell.
struct CauseWords {
  std::string_view sentence;
  std::string_view cell;
};

CauseWords CauseWordsOf(trace::FailureCause cause) {
  using Cause = trace::FailureCause;
  switch (cause) {
    case Cause::kLimit:
      return {Marked("It reached its memory limit."), Marked("limit reached")};
    case Cause::kTooLarge:
      return {Marked("One request was too large."), Marked("too large")};
    case Cause::kCached:
      return {Marked("Its cache would have sufficed."), Marked("cache kept")};
    case Cause::kOtherProcess:
      return {Marked("Other processes held the card."), Marked("card taken")};
    case Cause::kStreamWait:
      return {Marked("Memory was waiting for streams."), Marked("stream wait")};
    case Cause::kFragmentation:
      return {Marked("The card was fragmented."), Marked("fragmented")};
    case Cause::kCapacity:
      return {Marked("The card was full."), Marked("card full")};
    case Cause::kNone:
      break;
  }
  return {Marked("The cause is not known."), Marked("cause not known")};
}

std::string FirstFailureText(const Job& job, const ProcessView& view) {
  const analysis::FirstFailure& failure = *view.first_failure;
  const std::string requested = FormatBytes(failure.verdict.requested);
  const std::string places = PlacesOf(job, view);
  return JoinedSentences(
      {Message("The first was $0, $1 after the first trace began, $2.", ProcessName(view),
               FormatSeconds(failure.job_ns), DescribePosition(failure.at)),
       places.empty() ? "" : Message("It is $0.", places),
       MessageOf(CauseWordsOf(failure.verdict.cause).sentence),
       failure.verdict.short_by == 0 ? Message("Its request for $0 failed.", requested)
                                     : Message("Its request for $0 failed ($1 short).", requested,
                                               FormatBytes(failure.verdict.short_by))});
}

// Says for how many ranks of the job the processes that failed stand; empty if it is not known.
std::string RanksThatFail(const Job& job) {
  uint64_t ranks = 0;
  for (const analysis::RankKind& kind : job.kinds) {
    if (!Failed(job.processes[kind.first()])) continue;
    if (!kind.ranks) return "";
    ranks += *kind.ranks;
  }
  if (ranks <= Count(job, Failed)) return "";
  return Message("They stand for $0 of the job's $1 ranks.", FormatCount(ranks),
                 FormatCount(job.shape.world));
}

std::string FailuresText(const Job& job) {
  const ProcessView& first = job.processes[*analysis::FirstToFail(job.processes)];
  const size_t failed = Count(job, Failed);
  return JoinedSentences({Message("$0 of $1 processes ran out of memory.", FormatCount(failed),
                                  FormatCount(job.processes.size() - UnreadableProcesses(job))),
                          RanksThatFail(job), FirstFailureText(job, first),
                          failed > 1 ? Message("The others may have failed because of it.") : ""});
}

std::string UnknownEndsText(size_t unknown) {
  if (unknown == 0) return "";
  return CountedMessage(unknown, "It is not known if 1 more did: the end of its trace is missing.",
                        "It is not known if $0 more did: the ends of their traces are missing.",
                        FormatCount(unknown));
}

std::string NoFailureText(size_t known, size_t unknown) {
  if (known == 0) {
    return CountedMessage(
        unknown,
        "It is not known if the process ran out of memory: the end of its trace is missing. The "
        "part that can be read has no failed request.",
        "It is not known if any of $0 processes ran out of memory: the ends of their traces are "
        "missing. The parts that can be read have no failed request.",
        FormatCount(unknown));
  }
  if (unknown == 0) {
    return CountedMessage(known,
                          "The only process whose trace can be read did not run out of memory.",
                          "None of $0 processes ran out of memory.", FormatCount(known));
  }
  return CountedMessage(known, "The process whose trace is complete did not run out of memory.",
                        "None of the $0 processes whose traces are complete ran out of memory.",
                        FormatCount(known));
}

std::string OutcomeText(const Job& job) {
  const size_t unknown = Count(job, EndIsUnknown);
  if (Count(job, Failed) > 0) return JoinedSentences({FailuresText(job), UnknownEndsText(unknown)});
  const size_t known = Count(job, [](const ProcessView&) { return true; }) - unknown;
  return JoinedSentences({NoFailureText(known, unknown), known == 0 ? "" : UnknownEndsText(unknown),
                          FullestText(job)});
}

// Speaks of exceptions only where no request failed, because a failed request causes one.
std::string ExceptionsText(const Job& job) {
  const auto ended = [](const ProcessView& view) {
    return !view.exception.empty() && !Failed(view);
  };
  const size_t count = Count(job, ended);
  if (count == 0 || Count(job, Failed) > 0) return "";
  const auto first =
      std::find_if(job.processes.begin(), job.processes.end(),
                   [&ended](const ProcessView& view) { return view.is_readable() && ended(view); });
  return CountedMessage(
      count,
      "An exception, $0, ended $1. Memory that it would have needed later is not in these figures.",
      "Exceptions ended $2 processes, such as $1 ($0). Memory that they would have needed later is "
      "not in these figures.",
      Printable(first->exception), ProcessName(*first), FormatCount(count));
}

std::string ImbalanceText(const Job& job) {
  if (!job.imbalance) return "";
  const std::string least = Capitalized(NameWithPlace(job, job.imbalance->least));
  const std::string most = NameWithPlace(job, job.imbalance->most);
  const std::string bytes = FormatBytes(job.imbalance->bytes);
  if (!job.imbalance->balanced)
    return Message("$0 holds $1 less at its peak than $2.", least, bytes, most);
  return Message("$0 holds $1 less at its peak than $2; balanced, each stage would hold about $3.",
                 least, bytes, most, FormatBytes(*job.imbalance->balanced));
}

// Says for which ranks the processes stand, or how many ranks were not started.
std::string OtherRanksText(const Job& job) {
  const uint64_t ranks = analysis::VirtualRanks(job.processes);
  if (ranks == 0) return "";
  const auto all = analysis::RanksOfAll(job.kinds);
  if (all && *all == job.shape.world) {
    return Message("The processes stand for all $0 ranks of the job.",
                   FormatCount(job.shape.world));
  }
  return CountedMessage(ranks, "1 more rank of the job was virtual: it was not started.",
                        "$0 more ranks of the job were virtual: they were not started.",
                        FormatCount(ranks));
}

}  // namespace

size_t UnreadableProcesses(const Job& job) {
  return job.processes.size() - Count(job, [](const ProcessView&) { return true; });
}

std::string CauseCell(trace::FailureCause cause) { return MessageOf(CauseWordsOf(cause).cell); }

std::string JobVerdict(const Job& job) {
  if (Fullest(job) == nullptr)
    return JoinedSentences({Message("None of the traces can be read."), OtherRanksText(job)});
  return JoinedSentences(
      {OutcomeText(job), ExceptionsText(job), ImbalanceText(job), OtherRanksText(job)});
}

}  // namespace memtrace::report
