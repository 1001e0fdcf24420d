// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_ERRORS_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_ERRORS_H_

#include <c10/util/Exception.h>

#include <string>

namespace memtrace::shim {

// Throws a failure of the driver, with its number.
[[noreturn]] inline void ThrowDriverError(const c10::SourceLocation& place, int result,
                                          const std::string& text) {
  throw c10::AcceleratorError(place, result, text);
}

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_SINCE_2_8_VERSIONED_ERRORS_H_
