// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_PLANNED_FAILURES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_PLANNED_FAILURES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::card {

// An action at the n-th call of a function: the call fails with an error, or other processes take
// memory just before it.
struct PlannedFailure {
  std::string function;  // without the version that cuda.h adds: cuMemAlloc, not cuMemAlloc_v2;
                         // or several, joined by '|', counted together
  std::uint64_t nth = 1;
  bool for_ever = false;          // also at every later call
  int error = 0;                  // a value of CUresult and cudaError_t; 0: none
  std::uint64_t other_bytes = 0;  // taken from every card, or as many as it has

  bool is_list() const { return function.find('|') != std::string::npos; }
  bool Names(std::string_view called) const;

  bool operator==(const PlannedFailure&) const = default;
};

// Reads the form of MEMTRACE_CARD_FAILURES, empty for none:
//
//   PLAN = FUNCTION[|FUNCTION...]@N[+]=WHAT[;...]   N counts from 1; N+: the N-th call and all
//   later
//          ones. Of several functions those calls count that the program itself makes, not those
//          that other functions make for it
//   WHAT = a name (cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY, out of memory) or number of
//          an error that the card can return, or other:SIZE, as in other:4GiB
//
//   "cuMemCreate@3=CUDA_ERROR_OUT_OF_MEMORY;cudaMalloc@100+=2;cuMemMap@50=other:4GiB"
//
// Returns false and one sentence in *error for anything else; *plan is then unchanged.
bool ParsePlannedFailures(std::string_view text, std::vector<PlannedFailure>* plan,
                          std::string* error);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_PLANNED_FAILURES_H_
