// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_MOMENTS_JSON_H_
#define MEMTRACE_TOOLS_REPORT_FIT_MOMENTS_JSON_H_

#include "nlohmann/json.hpp"
#include "tools/fit/answer/answer.h"

namespace memtrace::report {

// Returns the moments of the whole job; none if it was not run.
nlohmann::ordered_json MomentsJson(const fit::Answer& answer);

// Returns the moment of the job in which the value after the largest does not fit; null if not
// known.
nlohmann::ordered_json LimitedByJson(const fit::Answer& answer);

// Returns the moments that the program has and that no run saw.
nlohmann::ordered_json GapsJson(const fit::Answer& answer);

// Returns what the run's DataLoaders gave, as its trace states it.
nlohmann::ordered_json BatchesJson(const fit::Outcome& outcome);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_MOMENTS_JSON_H_
