// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_EXPLANATION_H_
#define MEMTRACE_INTERPOSE_CORE_EXPLANATION_H_

#include <string>
#include <vector>

#include "profiler/recorder/block_recorder.h"
#include "profiler/trace/events/event.h"

namespace memtrace {

// Returns the text that follows torch's own in an out-of-memory error, in the language in use: the
// verdict, the three largest owners (null: nobody counted), and the command that explains the rest.
// Each line begins with "memtrace: "; sizes are in GiB or MiB as torch prints them.
std::string ExplainOutOfMemory(const trace::OutOfMemory& event,
                               const std::vector<recorder::HeldBytes>* owners,
                               const std::string& trace_path);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_EXPLANATION_H_
