// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_DRIVER_RESULT_H_
#define MEMTRACE_ALLOCATOR_CARD_DRIVER_RESULT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"

// Keeps the driver's own number (CUresult) in the status of a driver call, for code that must
// return this number to a program.
namespace memtrace {

inline constexpr char kDriverResultUrl[] = "memtrace/CUresult";

inline absl::Status WithDriverResult(absl::Status status, int result) {
  status.SetPayload(kDriverResultUrl, absl::Cord(std::to_string(result)));
  return status;
}

// Returns 0 if the status does not come from the driver.
inline int DriverResultOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kDriverResultUrl);
  int result = 0;
  return payload.has_value() && absl::SimpleAtoi(std::string(*payload), &result) ? result : 0;
}

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_DRIVER_RESULT_H_
