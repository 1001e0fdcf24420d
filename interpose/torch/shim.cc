// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the Python package calls (by ctypes): puts our allocator in torch's place, or observes
// torch's own.
#include <c10/cuda/CUDACachingAllocator.h>

#include <exception>
#include <string>
#include <vector>

#include "interpose/core/memtrace.h"
#include "interpose/torch/cuda_allocator.h"
#include "interpose/torch/host_values/host_values.h"
#include "interpose/torch/native_observer.h"
#include "interpose/torch/step_time/step_times.h"

#define MEMTRACE_SHIM extern "C" MEMTRACE_API

namespace {

// torch registers its own allocator with 0, later ones with 1, and one with a lower number does not
// replace it (seen in 2.15: torch.accelerator.memory_* stays with torch's).
constexpr uint8_t kRegistrationPriority = 1;

}  // namespace

// Returns 0 if done; 1 if it is too late, because CUDA is in use; 2 if torch has no CUDA allocator.
MEMTRACE_SHIM int memtrace_torch_install() {
  namespace native = c10::cuda::CUDACachingAllocator;
  native::CUDAAllocator* current = native::allocator.load();
  if (current == nullptr) return 2;
  if (current->initialized()) return 1;
  auto& ours = memtrace::shim::CudaAllocator::Get();
  native::allocator.store(&ours);
  // torch.accelerator.memory_* uses this registration.
  c10::SetAllocator(c10::kCUDA, &ours, kRegistrationPriority);
  return 0;
}

// Returns 0 if done; 1 if torch's allocator cannot be observed (cudaMallocAsync's refuses).
// REQUIRES: CUDA is initialised.
MEMTRACE_SHIM int memtrace_torch_observe(int device_count) {
  try {
    return memtrace::shim::ObserveNativeAllocator(device_count) ? 0 : 1;
  } catch (const std::exception&) {
    return 1;  // the caller is Python by ctypes: an exception would end the process
  }
}

// Gives small tensors on the simulated card true values, by the policy in `policy` and, if not "",
// in `users_policy`. Returns 0 if done; 1 if there is no simulated card; 2 if a policy cannot be
// read: one sentence in `error`, cut at size - 1 bytes.
MEMTRACE_SHIM int memtrace_host_values_start(const char* policy, const char* users_policy,
                                             char* error, uint64_t size) {
  std::string wrong;
  try {
    std::vector<std::string> files = {policy};
    if (*users_policy != '\0') files.emplace_back(users_policy);
    wrong = memtrace::shim::StartHostValues(files);
  } catch (const std::exception& failure) {
    wrong = failure.what();
  }
  if (wrong == "-") return 1;
  error[wrong.copy(error, size - 1)] = '\0';
  return wrong.empty() ? 0 : 2;
}

MEMTRACE_SHIM void memtrace_host_values_enter_thread() { memtrace::shim::EnterHostValuesThread(); }

MEMTRACE_SHIM void memtrace_host_values_begin_step() { memtrace::shim::BeginHostValuesStep(); }

MEMTRACE_SHIM void memtrace_host_values_annotate() { memtrace::shim::AnnotateHostValues(); }

// If nonzero, unknown choices of a router are as uneven as they may be; else even.
MEMTRACE_SHIM void memtrace_host_values_set_uneven(int is_uneven) {
  memtrace::shim::SetUnevenChoices(is_uneven != 0);
}

// Writes the line whose sizes follow from a router's unknown choice, as "train.py:31", into
// text[size]; "" if there is none.
MEMTRACE_SHIM void memtrace_host_values_line_of_choice(char* text, uint64_t size) {
  const std::string line = memtrace::shim::LineOfChosenSizes();
  text[line.copy(text, size - 1)] = '\0';
}

// Begins to estimate the time of steps, from the operators of threads with host values. Returns 0
// if done; 1 if there is no simulated card.
MEMTRACE_SHIM int memtrace_step_time_start() { return memtrace::shim::StepTimes::Start() ? 0 : 1; }

// These do nothing unless it was started. The phase is a number of phases.def.
MEMTRACE_SHIM void memtrace_step_time_set_phase(int phase) {
  if (auto* times = memtrace::shim::StepTimes::OfProcess()) times->SetPhase(phase);
}

MEMTRACE_SHIM void memtrace_step_time_end_step() {
  if (auto* times = memtrace::shim::StepTimes::OfProcess()) times->EndStep();
}

MEMTRACE_SHIM void memtrace_step_time_annotate() {
  if (auto* times = memtrace::shim::StepTimes::OfProcess()) times->Annotate();
}

// Writes the lines that read assumed values into text[size]: whole rows, as many as fit.
MEMTRACE_SHIM void memtrace_host_values_assumed_reads(char* text, uint64_t size) {
  std::string rows = memtrace::shim::AssumedReads();
  while (rows.size() >= size) rows.erase(rows.rfind('\n', rows.size() - 2) + 1);
  text[rows.copy(text, size - 1)] = '\0';
}
