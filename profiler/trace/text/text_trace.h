// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_TEXT_TEXT_TRACE_H_
#define MEMTRACE_PROFILER_TRACE_TEXT_TEXT_TRACE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "profiler/trace/reading/trace_reader.h"

// Traces as text, for golden tests of tools and for people: one line for each event.
//
//   # a comment, or an empty line
//   info script train.py
//   @2500 alloc 0 0x7f0000000000 requested=5MiB stack=step@adam.py:791;<module>@train.py:31
//   relabel 0 0x7f0000000000 size=5MiB role=parameter owner=policy path=h.0.mlp.weight
//   free 0 0x7f0000000000
//
// @NS         time since the trace began; if it is missing, 1000 ns after the previous event
// info KEY REST OF LINE
// alloc DEVICE ADDRESS requested= allocated= stream= pool= stack= owner= module=
//             `allocated` is by default `requested` rounded up to 512
// resume PHASE step= forward_seen= micro_batch=     recording begins in the middle; then the state:
// alive DEVICE ADDRESS, fields of alloc, birth= step= phase= in_same_phase= waiting= role= path=
// free_requested|free_completed DEVICE ADDRESS     free DEVICE ADDRESS: both
// reserve|map DEVICE ADDRESS size= stream=     unmap DEVICE ADDRESS size=
// relabel DEVICE ADDRESS size= role= owner= path=
// step NUMBER     phase NAME micro_batch=     tag THREAD owner=     annotate KEY VALUE
// lost EVENTS reason=     outside_free DEVICE ADDRESS kind=
// outside DEVICE ADDRESS bytes= kind= stack= owner= module=
// activity DEVICE KIND stream= start= duration= bytes= address= name= block=
// out_of_memory DEVICE requested= allocated= obtainable= limit= stream= stack= owner= module=
// card DEVICE total= free= ...      a card of the preceding out_of_memory
// sample DEVICE total= free= ...    a sample; both take the fields of CardLedger by name
//
// Numbers are decimal or 0x hexadecimal, amounts also 512KiB, 5MiB, 24GiB; a missing field is 0
// (limit: none). A value with spaces is in double quotes (key="a b"), where \" \\ and \n are
// escapes. A stack is function@file:line, innermost first, joined by ';' (in names %3B is ';', %40
// '@', %25 '%'). Sequence numbers count the events; gaps of a trace that lost some are closed.

namespace memtrace::trace {

// Writes the trace that `text` describes to `trace_path`, replacing an existing file, and closes
// it. kInvalidArgument names the wrong line and the reason.
absl::Status WriteTextTrace(std::string_view text, const std::string& trace_path);

// Returns the text form of a trace, from which WriteTextTrace makes the same events. Amounts are
// plain bytes.
std::string TraceToText(const TraceReader& reader);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_TEXT_TEXT_TRACE_H_
