// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_OPERATIONS_SHAPE_OPERATORS_H_
#define MEMTRACE_INTERPOSE_TORCH_OPERATIONS_SHAPE_OPERATORS_H_

#include <ATen/core/function_schema.h>

#include <string_view>

namespace memtrace::shim {

// True for operators that return a view of an argument. Those that sometimes copy (reshape, to)
// count as views as well, because they call another operator to copy.
bool IsView(const c10::FunctionSchema& schema);

// True for operators that make a tensor like another one, for record_stream, and for detach: torch
// reports that one also as a range without a schema.
bool UsesOnlyShapes(std::string_view name);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_OPERATIONS_SHAPE_OPERATORS_H_
