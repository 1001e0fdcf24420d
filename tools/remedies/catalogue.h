// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REMEDIES_CATALOGUE_H_
#define MEMTRACE_TOOLS_REMEDIES_CATALOGUE_H_

#include <cstdint>
#include <optional>
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
};

// The distance between a degree of a remedy and the next one.
enum class Step : uint8_t {
  kOnce,      // it is made or not: the hook takes no degree
  kByOne,     // 9, 10, 11 layers
  kDoubling,  // 2, 4, 8 pieces
  kHalving,   // ranks 64, 32, 16
};

// The phases in which a remedy saves memory, as bits. Recomputation belongs to backward.
enum SavesIn : uint8_t {
  kInStart = 1,
  kInForward = 2,
  kInBackward = 4,
  kInOptimizer = 8,
  kInAll = 15,
};

// The degrees of a remedy, as HOOK=DEGREE of MEMTRACE_FIT_CHANGES.
struct Degrees {
  Id id;
  Step step = Step::kOnce;
  uint32_t weakest = 1;    // saves least
  uint32_t strongest = 1;  // saves most; 0: all places, which only a run of the program tells
  uint8_t saves_in = 0;    // of SavesIn

  bool has_degree() const { return step != Step::kOnce; }
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

// Returns nothing if the row has no hook.
std::optional<Degrees> DegreesOf(Id id);

}  // namespace memtrace::remedies

#endif  // MEMTRACE_TOOLS_REMEDIES_CATALOGUE_H_
