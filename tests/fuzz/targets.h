// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_FUZZ_TARGETS_H_
#define MEMTRACE_TESTS_FUZZ_TARGETS_H_

#include <string_view>

// The functions that the fuzzers run on arbitrary bytes: each returns, or ends the process if a
// guarantee is broken. The same functions run in `make test` on tests/fuzz/regressions, without
// clang.
namespace memtrace::fuzz {

// Opens a file of these bytes as a trace, and reads everything that a report needs; also verifies
// and repairs it.
void TraceFile(std::string_view bytes);

// Opens a valid file with these bytes as the records of its one block. This gets deeper than
// TraceFile, which first has to find the magic numbers.
void TraceRecords(std::string_view records);

// Shows a process's summary of itself as memtrace top does.
void RunSummaryText(std::string_view text);

// profiler/trace/text/text_trace.h: the text form of an accepted trace comes back unchanged.
void TextTrace(std::string_view text);

// tools/interchange/importers: an accepted file becomes events in order.
void KinetoProfile(std::string_view text);
void RmmLog(std::string_view text);  // with and without its first line

// tools/interchange/torch_snapshot.h: nothing is executed, and a report is made of an accepted
// snapshot.
void Snapshot(std::string_view pickle);

// interpose/simulated_card/spec/card_spec.h
void CardSpecs(std::string_view text);

// Draws a program for the allocator from these numbers
// (tests/allocator/program/allocator_program.h).
void AllocatorProgram(std::string_view bytes);

// Does the same with a plan, drawn from a quarter of the bytes, that is right, half right or wrong.
void PlannedProgram(std::string_view bytes);

// Does the same without a plan, with memory that sleeps, wakes, gives way and is used in turns.
void MovingProgram(std::string_view bytes);

// allocator/plan/plan.h: an accepted text comes back as the same plan, and can be followed.
void PlanFile(std::string_view text);

}  // namespace memtrace::fuzz

#endif  // MEMTRACE_TESTS_FUZZ_TARGETS_H_
