// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/outside_set.h"

#include <algorithm>
#include <string_view>

#include "profiler/trace/events/visit.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {

void OutsideSet::Apply(const trace::Event& event) {
  trace::Visit([this](const auto& payload) { Apply(payload); }, event.payload);
}

std::vector<trace::OutsideAllocate> OutsideSet::Capture(int32_t device) const {
  std::vector<trace::OutsideAllocate> held;
  for (const auto& [key, block] : blocks_) {
    if (block.device == device || IsOfHost(block.kind)) held.push_back(block);
  }
  return held;
}

bool IsOfHost(trace::OutsideKind kind) { return kind >= trace::OutsideKind::kManaged; }

std::vector<OutsideHolding> HoldingsOf(const std::vector<trace::OutsideAllocate>& blocks,
                                       SiteNames& sites) {
  std::map<std::pair<trace::OutsideKind, SiteId>, OutsideHolding> rows;
  for (const trace::OutsideAllocate& block : blocks) {
    const SiteId site = sites.Site(trace::Role::kUnknown, 0, 0, block.stack, trace::Phase::kOther);
    OutsideHolding& row = rows[{block.kind, site}];
    row.kind = block.kind;
    row.site = sites.Name(site);
    row.bytes += block.bytes;
    ++row.blocks;
  }
  std::vector<OutsideHolding> holdings;
  holdings.reserve(rows.size());
  for (auto& [key, row] : rows) holdings.push_back(std::move(row));
  std::stable_sort(holdings.begin(), holdings.end(), [](const auto& a, const auto& b) {
    if (IsOfHost(a.kind) != IsOfHost(b.kind)) return IsOfHost(b.kind);
    return a.bytes > b.bytes;
  });
  return holdings;
}

std::vector<LibraryBytes> LibrariesOf(const std::vector<OutsideHolding>& holdings) {
  std::map<std::string_view, uint64_t> bytes;
  for (const OutsideHolding& holding : holdings) {
    if (!IsOfHost(holding.kind)) bytes[LibraryOfSite(holding.site)] += holding.bytes;
  }
  std::vector<LibraryBytes> libraries;
  libraries.reserve(bytes.size());
  for (const auto& [library, sum] : bytes)
    libraries.push_back({.library = std::string(library), .bytes = sum});
  std::stable_sort(libraries.begin(), libraries.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return libraries;
}

}  // namespace memtrace::analysis
