// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_FAILURE_JSON_H_
#define MEMTRACE_TOOLS_REPORT_FIT_FAILURE_JSON_H_

#include "nlohmann/json.hpp"
#include "tools/fit/answer/answer.h"

namespace memtrace::report {

// Returns null if no line or module is known.
nlohmann::ordered_json LineJson(const fit::FailedLine& failed);

// Returns the request that ended the run; null if none did.
nlohmann::ordered_json FailureJson(const fit::Outcome& outcome);

// Returns the request because of which the answer is that it does not fit, and the moment of the
// job in which it is made; null if there is none. Of a moment that was not run on the card, nothing
// but the missing bytes is known.
nlohmann::ordered_json FirstFailureJson(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_FAILURE_JSON_H_
