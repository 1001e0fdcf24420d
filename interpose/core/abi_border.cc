// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/abi_border.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "allocator/card/driver_result.h"

namespace memtrace {
namespace {

// Plain data without a destructor, because memory is freed while a thread's destructors run, and
// such a call must still be able to report its error.
thread_local std::array<char, 512> last_error{};
thread_local int last_driver_result = 0;

}  // namespace

int Fail(int status, std::string_view sentence, int driver_result) {
  last_driver_result = driver_result;
  const size_t length = std::min(sentence.size(), last_error.size() - 1);
  std::memcpy(last_error.data(), sentence.data(), length);
  last_error[length] = '\0';
  return status;
}

const char* LastError() { return last_error.data(); }

int LastDriverResult() { return last_driver_result; }

int NoSuchCard(int device) {
  if (Process::Get().cards().is_forked()) return Fail(MEMTRACE_INTERNAL, Process::kForked);
  if (!Process::Get().cards().is_started())
    return Fail(MEMTRACE_NOT_STARTED, "memtrace has not been started");
  return Fail(MEMTRACE_INVALID_ARGUMENT,
              "memtrace's allocator serves no card " + std::to_string(device));
}

int Missing(const char* what) {
  return Fail(MEMTRACE_INVALID_ARGUMENT, std::string(what) + " is null or its size is not set");
}

int TranslateFailure(const absl::Status& status) {
  const std::string_view sentence(status.message().data(), status.message().size());
  // An error of the driver is never the fault of an argument that the caller has passed here.
  if (const int result = DriverResultOf(status)) return Fail(MEMTRACE_INTERNAL, sentence, result);
  const bool is_argument = absl::IsNotFound(status) || absl::IsInvalidArgument(status) ||
                           absl::IsAlreadyExists(status) || absl::IsFailedPrecondition(status);
  const int other = absl::IsUnimplemented(status) ? MEMTRACE_UNSUPPORTED : MEMTRACE_INTERNAL;
  return Fail(is_argument ? MEMTRACE_INVALID_ARGUMENT : other, sentence);
}

}  // namespace memtrace
