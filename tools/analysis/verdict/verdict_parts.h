// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_VERDICT_PARTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_VERDICT_PARTS_H_

#include <cstdint>
#include <string_view>

namespace memtrace::analysis {

// verdict_parts.def says what each means.
enum class Contributor : uint8_t {
#define MEMTRACE_CONTRIBUTION(name, text, meaning) k##name,
#include "tools/analysis/verdict/verdict_parts.def"
#undef MEMTRACE_CONTRIBUTION
};
std::string_view ContributorName(Contributor contributor);  // "private_pool"

enum class HowKnown : uint8_t {
#define MEMTRACE_HOW_KNOWN(name, text, meaning) k##name,
#include "tools/analysis/verdict/verdict_parts.def"
#undef MEMTRACE_HOW_KNOWN
};
std::string_view HowKnownName(HowKnown how_known);  // "replayed"

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_VERDICT_PARTS_H_
