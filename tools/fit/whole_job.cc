// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/whole_job.h"

#include <algorithm>
#include <string>
#include <utility>

#include "messages/message.h"
#include "profiler/trace/vocabulary/moments.h"
#include "tools/fit/trials/why_failed.h"

namespace memtrace::fit {
namespace {

namespace moment = trace::moment;

// True if the job came to the end of the moment.
bool HasPassed(const Outcome& job, const std::string& moment) {
  for (const ProcessNeed& process : job.processes)
    for (const MomentPeak& peak : process.moments)
      if (peak.stay.moment == moment && peak.stay.ended_by.empty()) return true;
  return false;
}

// Says why the job did not come to its end.
std::string WhyNotEnded(const Outcome& job) {
  if (job.is_late) {
    const std::string place = PlaceAtEnd(job.log_end);
    return place.empty()
               ? Message("The job did not end in its time, even with short loaders.")
               : Message("The job did not end in its time, even with short loaders; it was at $0.",
                         place);
  }
  const std::string why = WhyFailed(job.log_end, true);
  return why.empty() ? Message("With short loaders the job ends with exit code $0 by itself.",
                               job.exit_code)
                     : Message("With short loaders the job fails by itself: $0.", why);
}

}  // namespace

void AddResumed(Outcome resumed, Outcome& outcome) {
  outcome.gaps.erase(std::remove_if(outcome.gaps.begin(), outcome.gaps.end(),
                                    [](const Gap& gap) { return gap.moment == moment::kResume; }),
                     outcome.gaps.end());
  if (!resumed.completed && !resumed.Failed()) {
    const std::string why = resumed.is_late ? Message("it had not made 2 steps in its time")
                                            : WhyFailed(resumed.log_end, true);
    outcome.gaps.push_back(
        {.moment = std::string(moment::kResume),
         .evidence = Message("It saves checkpoints."),
         .why_not = why.empty() ? Message("The run that resumed ended with exit code $0 by itself.",
                                          resumed.exit_code)
                                : Message("The run that resumed failed by itself: $0.", why)});
    return;
  }
  outcome.completed = outcome.completed && resumed.completed;
  outcome.resumed.push_back(std::move(resumed));
}

std::vector<Gap> GapsAfter(const Outcome& job, const std::vector<Gap>& before) {
  std::vector<Gap> gaps = job.gaps;
  const bool has_ended = job.completed || job.Failed();
  for (Gap& gap : gaps)
    if (job.completed && gap.why_not.empty() && gap.moment == moment::kEvaluation)
      gap.why_not = Message(
          "The job with short loaders did not come to it. --also names a call "
          "that makes it.");
  std::vector<Gap> left;
  for (const Gap& gap : before) {
    const bool is_seen = gap.moment == moment::kResume ? !job.resumed.empty()
                                                       : has_ended || HasPassed(job, gap.moment);
    if (!is_seen) left.push_back(gap);
  }
  AddGaps(left, gaps);
  if (!has_ended)
    AddGaps({{.moment = std::string(moment::kEnd), .evidence = WhyNotEnded(job), .why_not = ""}},
            gaps);
  return gaps;
}

}  // namespace memtrace::fit
