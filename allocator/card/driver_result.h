// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_DRIVER_RESULT_H_
#define MEMTRACE_ALLOCATOR_CARD_DRIVER_RESULT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"

// The driver's own number (CUresult) in a status that comes from a call of it, for those who answer
// to programs that look at it.
namespace memtrace {

inline constexpr char kDriverResultUrl[] = "memtrace/CUresult";

inline absl::Status WithDriverResult(absl::Status status, int result) {
  status.SetPayload(kDriverResultUrl, absl::Cord(std::to_string(result)));
  return status;
}

// 0 if the status is not the driver's.
inline int DriverResultOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kDriverResultUrl);
  int result = 0;
  return payload.has_value() && absl::SimpleAtoi(std::string(*payload), &result) ? result : 0;
}

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_DRIVER_RESULT_H_
