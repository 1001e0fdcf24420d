// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_TIME_WORDS_H_
#define MEMTRACE_TOOLS_REPORT_FIT_TIME_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "tools/fit/answer/answer.h"

namespace memtrace::report {

// Returns the estimated time of a step as a multiple of that of the run without a limit: "1.08 x";
// empty if it is not known.
std::string TimeText(const fit::Answer& answer, const fit::Outcome& outcome);

// Returns the sentences that say what the times of a table rest on; none if there is no time.
std::vector<std::string> TimeNotes(const fit::Answer& answer);

// Returns the parts of the estimate, in seconds; null if there is none.
nlohmann::ordered_json TimeJson(const std::optional<fit::StepTime>& time);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_TIME_WORDS_H_
