// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REMEDIES_CATALOGUE_H_
#define MEMTRACE_TOOLS_REMEDIES_CATALOGUE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace memtrace::remedies {

// The effort that a change takes, the cheapest first.
enum class Effort : uint8_t {
  kSetting,  // an environment variable, another program
  kOption,   // a word in a call
  kLines,    // a few lines; the results stay what they were
  kResults,  // the results may change
  kMoney,
};

// A row of remedy.def. The order of rows is that of AllCandidates() of fit: least effort first.
enum class Id : uint8_t {
#define MEMTRACE_REMEDY(id, name, effort, change, cost, hook) id,
#include "tools/remedies/remedy.def"
#undef MEMTRACE_REMEDY
};

struct Row {
  Id id;
  std::string_view name;
  Effort effort;
  std::string_view change;  // the line or option, as a user writes it
  std::string_view cost;
  std::string_view hook;  // of MEMTRACE_FIT_CHANGES; empty if only a changed script can try it
};

const Row& RowOf(Id id);
std::span<const Row> Catalogue();

}  // namespace memtrace::remedies

#endif  // MEMTRACE_TOOLS_REMEDIES_CATALOGUE_H_
