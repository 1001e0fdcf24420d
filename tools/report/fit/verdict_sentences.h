// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_VERDICT_SENTENCES_H_
#define MEMTRACE_TOOLS_REPORT_FIT_VERDICT_SENTENCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/fit/answer/answer.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns "It needs 42.30 GiB of card 0's 40.00 GiB (seen in 2 steps)."; for a job, "Rank 448 needs
// most: ...". `card` is the card's number, of a job the rank.
std::string NeedText(const fit::Answer& answer, uint64_t need, int32_t card,
                     const std::string& seen);

// Returns "That is 2.30 GiB more than the card has."
std::string MoreThanCardText(uint64_t bytes);

// Returns "seen in the whole program, 60 steps" or "seen in 8 steps".
std::string SeenText(const fit::Outlook& outlook);

// Returns "Its peak did not rise after step 2."
std::string SettledText(const fit::Outlook& outlook);

// Says that steps after those seen are not known; empty if the program ended by itself.
std::string UnseenText(const fit::Outlook& outlook);

// Returns "fits in 3 steps" for "fits", if that is what was seen of it; else as it is.
std::string SeenInText(const fit::LeastSeen& seen, const std::string& fits);

// Returns "RUNS OUT IN STEP 13. The memory in use grew by 116.0 MiB in each step until then."
// Requires outcome.HasRunOut().
std::string RunsOutText(const fit::Outcome& outcome);

// Returns the moments, "an evaluation, saving a checkpoint".
std::string GapNames(const std::vector<fit::Gap>& gaps);

// Says that nothing failed, and which moments were not seen. Requires gaps.
std::string GapsText(const fit::Answer& answer);

// Returns "WILL NOT FIT beyond about step 13. The peak rose by 116 MiB in each of the last 8
// steps."
std::string WillNotFitText(const fit::Outlook& outlook);

// True if the stopped run needed too much already; in its later steps it could only need more.
// Requires a stopped answer.
bool IsKnownNotToFit(const fit::Answer& answer);

// Says why it is not known if a run that did not fail fits.
std::string NotKnownText(const fit::Outcome& outcome);

// Returns "1.20 GiB to other cards of the machine, 0.30 GiB over the network": what a rank sends by
// NCCL in a step. Requires that it sends something.
std::string SentText(const fit::StepCost& cost);

// Says what failed first, what the program recovered from, what it would take on a larger card, and
// what a step sends to other cards.
std::vector<std::string> FurtherSentences(const fit::Answer& answer);

// Says in which run the search was stopped.
std::string StoppedText(const fit::StoppedTrial& stopped);

// Says what is known of a search that was stopped before the run on the card. Requires
// answer.stopped.
std::string KnownSoFarText(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_VERDICT_SENTENCES_H_
