// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_FUZZ_TARGETS_H_
#define MEMTRACE_TESTS_FUZZ_TARGETS_H_

#include <string_view>

// What the fuzzers run on arbitrary bytes: each returns, or ends the process if a promise is
// broken. The same functions run in `make test` on tests/fuzz/regressions, without clang.
namespace memtrace::fuzz {

// A file of these bytes: opened as a trace, and everything a report says of it; and
// verified and repaired.
void TraceFile(std::string_view bytes);

// A whole file with these bytes as the records of its one block: deeper than TraceFile gets, which
// first has to find the magic numbers.
void TraceRecords(std::string_view records);

// What a process wrote about itself into its trace, as memtrace top shows it.
void RunSummaryText(std::string_view text);

// profiler/trace/text/text_trace.h: what is accepted comes back as the same text.
void TextTrace(std::string_view text);

// tools/interchange/importers: what is accepted becomes events in order.
void KinetoProfile(std::string_view text);
void RmmLog(std::string_view text);  // with and without its first line

// tools/interchange/torch_snapshot.h: nothing is executed, and a report is made of what is
// accepted.
void Snapshot(std::string_view pickle);

// interpose/simulated_card/spec/card_spec.h
void CardSpecs(std::string_view text);

// The numbers that a program for the allocator is drawn from (tests/allocator/allocator_program.h).
void AllocatorProgram(std::string_view bytes);

// The same with a plan, drawn from the same numbers, that is right, half right or wrong.
void PlannedProgram(std::string_view bytes);

// allocator/plan/plan.h: what is accepted comes back as the same plan, and can be followed.
void PlanFile(std::string_view text);

}  // namespace memtrace::fuzz

#endif  // MEMTRACE_TESTS_FUZZ_TARGETS_H_
