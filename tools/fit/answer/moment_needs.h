// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_ANSWER_MOMENT_NEEDS_H_
#define MEMTRACE_TOOLS_FIT_ANSWER_MOMENT_NEEDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/fit/needs/holder.h"

namespace memtrace::fit {

struct Answer;
struct Outcome;

// How it is known if a moment fits.
enum class Known : uint8_t {
  kExact,     // it was run on the card
  kInferred,  // from a run without a limit, or from growth that was seen
  kAssumed,   // by a policy for values that no kernel computes
};
std::string_view KnownName(Known known);  // "inferred"

// The word of a step that belongs to no moment.
inline constexpr std::string_view kUsualStep = "step";

// A moment of the job, by the worst of the stays in it.
struct MomentNeed {
  std::string moment = {};  // a word of moments.def, or kUsualStep
  std::string size = {};    // of its batch: "1,024 tokens"; or empty
  int32_t card = 0;
  uint64_t needs = 0;             // bytes of that card, in all that it will be
  Holder holder = {};             // as MomentPeak::holder
  std::optional<bool> fits = {};  // nothing: no card was given
  std::string line = {};          // at which it runs out: as FailedLine::line; or empty
  Known known = Known::kExact;
  std::string failed_by_itself = {};  // as MomentStay::failed_by_itself
  uint64_t batches = 0;               // as MomentStay; 0 unless it has more than were seen
  uint64_t of = 0;
};

// Returns the moments of answer.whole_job, in the order of a job's life. Requires whole_job.
std::vector<MomentNeed> MomentNeedsOf(const Answer& answer);

// Returns the moment in which a run of the job on such cards ran out of memory, or would do so with
// all its batches; nothing if it did neither.
std::optional<MomentNeed> LimitingMomentOf(const Outcome& run,
                                           const std::vector<uint64_t>& card_bytes);

// Returns the moment in which the job failed on the card; null if it did not, or in none of these.
const MomentNeed* FailedMomentOf(const std::vector<MomentNeed>& moments);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_ANSWER_MOMENT_NEEDS_H_
