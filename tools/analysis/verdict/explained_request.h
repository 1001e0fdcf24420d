// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_EXPLAINED_REQUEST_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_EXPLAINED_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/evidence.h"
#include "tools/analysis/source/position.h"
#include "tools/analysis/source/site_names.h"

namespace memtrace::analysis {

// A request that could not be served.
struct ExplainedRequest {
  uint64_t bytes = 0;
  uint64_t obtainable = 0;
  uint64_t limit = 0;  // all ones if there is none
  std::string owner;
  trace::Role role = trace::Role::kUnknown;
  Evidence evidence = Evidence::kNone;  // for the role
  std::string site;
  std::string module;               // path of the module that made it; empty if none did
  std::vector<trace::Frame> stack;  // innermost first
  // The line whose backward pass was running, for a request without a stack, of a thread that has
  // no Python lines.
  std::optional<trace::Frame> backward;
  Position at;
  uint64_t number = 1;  // among the failures of the trace, counted from 1
};

// `number`: the place among the out-of-memory events of the trace, counted from 1.
ExplainedRequest DescribeRequest(const FailedRequest& failed, uint64_t number,
                                 const EventSource& source, SiteNames& sites);

// Returns the user's own line of the request ("train.py:31"), or the line whose backward pass it
// belongs to; empty if there is none.
std::string UserLine(const ExplainedRequest& request);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_EXPLAINED_REQUEST_H_
