// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_STATUS_MACROS_H_
#define MEMTRACE_BASE_STATUS_MACROS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"  // IWYU pragma: export

// Returns the status of `expression` from the current function if it is an error. The function must
// return an absl::Status or an absl::StatusOr.
#define MEMTRACE_RETURN_IF_ERROR(expression)             \
  do {                                                   \
    absl::Status memtrace_status_ = (expression);        \
    if (!memtrace_status_.ok()) return memtrace_status_; \
  } while (false)

// Moves the value of a StatusOr into `variable`, which may be a declaration, or returns its error
// from the current function. It must be a statement of its own, not the body of an if without
// braces.
#define MEMTRACE_ASSIGN_OR_RETURN(variable, expression) \
  MEMTRACE_ASSIGN_OR_RETURN_AS(MEMTRACE_JOIN(memtrace_value_, __LINE__), variable, expression)
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses.
#define MEMTRACE_ASSIGN_OR_RETURN_AS(value, variable, expression) \
  auto value = (expression);                                      \
  if (!value.ok()) return std::move(value).status();              \
  variable = *std::move(value)
// NOLINTEND(bugprone-macro-parentheses)
#define MEMTRACE_JOIN(left, right) MEMTRACE_JOIN_TWO(left, right)
#define MEMTRACE_JOIN_TWO(left, right) left##right

#endif  // MEMTRACE_BASE_STATUS_MACROS_H_
