// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_CHECK_H_
#define MEMTRACE_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <type_traits>

#include "absl/base/attributes.h"

// Aborts, with file, line and both values, unless the condition holds. For conditions that only a
// bug of ours can violate; an error that a user or a driver can cause is an absl::Status instead.
#define MEMTRACE_CHECK(condition) \
  (static_cast<bool>(condition)   \
       ? void()                   \
       : ::memtrace::check_internal::Fail(__FILE__, __LINE__, #condition))
#define MEMTRACE_CHECK_EQ(a, b) MEMTRACE_CHECK_COMPARE_(==, a, b)
#define MEMTRACE_CHECK_NE(a, b) MEMTRACE_CHECK_COMPARE_(!=, a, b)
#define MEMTRACE_CHECK_LE(a, b) MEMTRACE_CHECK_COMPARE_(<=, a, b)
#define MEMTRACE_CHECK_LT(a, b) MEMTRACE_CHECK_COMPARE_(<, a, b)
#define MEMTRACE_CHECK_GE(a, b) MEMTRACE_CHECK_COMPARE_(>=, a, b)
#define MEMTRACE_CHECK_GT(a, b) MEMTRACE_CHECK_COMPARE_(>, a, b)

#define MEMTRACE_CHECK_COMPARE_(comparison, a, b)                                           \
  [](const auto& left, const auto& right) {                                                 \
    if (!(left comparison right)) {                                                         \
      ::memtrace::check_internal::Fail(__FILE__, __LINE__, #a " " #comparison " " #b, left, \
                                       right);                                              \
    }                                                                                       \
  }((a), (b))

namespace memtrace::check_internal {

template <typename T>
void Print(std::ostream& out, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    out << +static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (requires { value.ToString(); }) {
    out << value.ToString();
  } else {
    out << value;
  }
}

// Not inlined, so that the good path stays one compare and one branch.
template <typename... Values>
[[noreturn]] ABSL_ATTRIBUTE_NOINLINE ABSL_ATTRIBUTE_COLD void Fail(const char* file, int line,
                                                                   const char* condition,
                                                                   const Values&... values) {
  std::ostringstream out;
  out << file << ':' << line << ": CHECK failed: " << condition;
  [[maybe_unused]] const char* separator = " (";
  ((out << separator, Print(out, values), separator = " vs "), ...);
  out << (sizeof...(values) > 0 ? ")\n" : "\n");
  std::fputs(out.str().c_str(), stderr);
  std::abort();
}

}  // namespace memtrace::check_internal

#endif  // MEMTRACE_BASE_CHECK_H_
