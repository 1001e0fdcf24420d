// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/remedies/catalogue.h"

#include <array>
#include <cstddef>

namespace memtrace::remedies {
namespace {

constexpr std::array kRows = {
#define MEMTRACE_REMEDY(id, name, effort, change, cost, hook) \
  Row{Id::id, name, Effort::effort, change, cost, hook},
#include "tools/remedies/remedy.def"
#undef MEMTRACE_REMEDY
};

}  // namespace

const Row& RowOf(Id id) { return kRows[static_cast<size_t>(id)]; }

std::span<const Row> Catalogue() { return kRows; }

}  // namespace memtrace::remedies
