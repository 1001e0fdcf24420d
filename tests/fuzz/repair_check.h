// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_FUZZ_REPAIR_CHECK_H_
#define MEMTRACE_TESTS_FUZZ_REPAIR_CHECK_H_

#include "profiler/trace/reading/trace_reader.h"

namespace memtrace::fuzz {

// Verifies the trace and repairs it: the new one must be complete, and have the same events.
void VerifyAndRepair(const trace::TraceReader& reader);

}  // namespace memtrace::fuzz

#endif  // MEMTRACE_TESTS_FUZZ_REPAIR_CHECK_H_
