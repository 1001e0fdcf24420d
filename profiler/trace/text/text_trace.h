// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_TEXT_TEXT_TRACE_H_
#define MEMTRACE_PROFILER_TRACE_TEXT_TEXT_TRACE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "profiler/trace/reading/trace_reader.h"

// Traces as text, for golden tests of tools and for people: one line an event.
//
//   # a comment, or an empty line
//   info script train.py
//   @2500 alloc 0 0x7f0000000000 requested=5MiB stack=step@adam.py:791;<module>@train.py:31
//   relabel 0 0x7f0000000000 size=5MiB role=parameter owner=policy path=h.0.mlp.weight
//   free 0 0x7f0000000000
//
// @NS         time since the trace began; without it, 1000 ns after the event before
// info KEY REST OF LINE
// alloc DEVICE ADDRESS requested= allocated= stream= pool= stack= owner= module=
//             `allocated` is by default `requested` rounded up to 512
// resume PHASE step= forward_seen=     recording begins in the middle; then what held, with
// alive DEVICE ADDRESS, the fields of alloc, birth= step= phase= in_same_phase= waiting= role=
// path= free_requested DEVICE ADDRESS     free_completed DEVICE ADDRESS     free DEVICE ADDRESS:
// both reserve|map DEVICE ADDRESS size= stream=     unmap DEVICE ADDRESS size= relabel DEVICE
// ADDRESS size= role= owner= path= step NUMBER     phase NAME micro_batch=     tag THREAD owner=
// annotate KEY VALUE lost EVENTS reason= outside DEVICE ADDRESS bytes= kind= stack= owner= module=
// outside_free DEVICE ADDRESS kind= out_of_memory DEVICE requested= allocated= obtainable= limit=
// stream= stack= owner= module= card DEVICE total= free= ...      a card of the out_of_memory above
// it sample DEVICE total= free= ...    by itself; both take the fields of CardLedger by name
//
// Numbers are decimal or 0x hexadecimal, amounts also 512KiB, 5MiB, 24GiB; what is left out is 0
// (limit: none). A value with spaces stands in double quotes (key="a b"), where \" \\ and \n are
// escapes. A stack is function@file:line, innermost first, joined by ';' (in names %3B is ';', %40
// '@', %25 '%'). Sequence numbers are those of the lines; of a trace that lost some, they close up.

namespace memtrace::trace {

// Writes the trace that `text` describes to `trace_path`, replacing what is there, and closes it.
// kInvalidArgument names the line that is wrong and why.
absl::Status WriteTextTrace(std::string_view text, const std::string& trace_path);

// The text form of a trace; WriteTextTrace makes the same events of it. Amounts are plain bytes.
std::string TraceToText(const TraceReader& reader);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_TEXT_TEXT_TRACE_H_
