// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/remedies/catalogue.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace memtrace::remedies {
namespace {

constexpr std::array kRows = {
#define MEMTRACE_REMEDY(id, name, effort, change, cost, hook) \
  Row{Id::id, name, Effort::effort, change, cost, hook},
#include "tools/remedies/remedy.def"
};

constexpr std::array kDegrees = {
#define MEMTRACE_DEGREE(id, step, weakest, strongest, saves_in) \
  Degrees{Id::id, Step::step, weakest, strongest, saves_in},
#include "tools/remedies/remedy.def"
};

}  // namespace

const Row& RowOf(Id id) { return kRows[static_cast<size_t>(id)]; }

std::span<const Row> Catalogue() { return kRows; }

std::optional<Degrees> DegreesOf(Id id) {
  const auto* const found = std::find_if(kDegrees.begin(), kDegrees.end(),
                                         [id](const Degrees& degrees) { return degrees.id == id; });
  return found == kDegrees.end() ? std::nullopt : std::optional(*found);
}

}  // namespace memtrace::remedies
