// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_VOCABULARY_MOMENTS_H_
#define MEMTRACE_PROFILER_TRACE_VOCABULARY_MOMENTS_H_

#include <string_view>

// The words of moments.def: kLargestBatch is "largest_batch".
namespace memtrace::trace::moment {

#define MEMTRACE_MOMENT(name, word, meaning) inline constexpr std::string_view k##name = word;
#include "profiler/trace/vocabulary/moments.def"
#undef MEMTRACE_MOMENT

}  // namespace memtrace::trace::moment

#endif  // MEMTRACE_PROFILER_TRACE_VOCABULARY_MOMENTS_H_
