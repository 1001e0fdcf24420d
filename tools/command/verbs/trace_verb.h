// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_VERBS_TRACE_VERB_H_
#define MEMTRACE_TOOLS_COMMAND_VERBS_TRACE_VERB_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/command/inputs/trace_input.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

// Code shared by the verbs that read one trace and print a result.
namespace memtrace::command {

struct TraceOptions {
  std::string file;
  bool json = false;
  // True if the result grows with the trace's length, so that WithinMemoryLimit does not apply.
  bool keeps_events = false;
};

// Declares FILE and --json. `schema` names the verb's JSON ("memtrace.stats/1"); `options` outlives
// the parse.
void AddTraceOptions(CLI::App& app, TraceOptions& options, std::string_view schema);

// Prints what `render` returns for the trace. Returns the exit code: kUnreadable if the trace
// cannot be opened, kUsage if `render` rejects the request.
int PrintFromTrace(const TraceOptions& options,
                   const std::function<absl::StatusOr<std::string>(const TraceInput&)>& render);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_VERBS_TRACE_VERB_H_
