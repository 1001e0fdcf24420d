// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/part.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace memtrace::analysis {
namespace {

bool HasLowerRank(const OpenItem& a, const OpenItem& b) { return a.rank < b.rank; }

}  // namespace

OpenPart AfterPlacing(const OpenPart& part, size_t placed) {
  const OpenItem gone = part[placed];
  const Bytes top = gone.end();
  OpenPart after;
  OpenPart raised;
  after.reserve(part.size());
  size_t i = 0;
  for (; i < part.size() && part[i].low < top; ++i) {
    if (i == placed) continue;
    const bool rises = ShareSection(part[i], gone);
    (rises ? raised : after).push_back(part[i]);
    if (!rises) continue;
    raised.back().low = top;
    raised.back().is_barred = false;
  }
  // All items that rise now have the same low, which some others had before.
  std::sort(raised.begin(), raised.end(), HasLowerRank);
  const size_t from = i;
  while (i < part.size() && part[i].low == top) ++i;
  const auto at = [&part](size_t index) { return part.begin() + static_cast<ptrdiff_t>(index); };
  std::merge(at(from), at(i), raised.begin(), raised.end(), std::back_inserter(after),
             HasLowerRank);
  after.insert(after.end(), at(i), part.end());
  return after;
}

bool BlocksOtherItem(const OpenPart& part, size_t placed) {
  for (size_t i = 0; i < part.size() && part[i].low < part[placed].end(); ++i) {
    if (i != placed && ShareSection(part[i], part[placed])) return true;
  }
  return false;
}

std::vector<OpenPart> SplitAtCuts(OpenPart part) {
  Section begin = std::numeric_limits<Section>::max();
  Section end = 0;
  for (const OpenItem& item : part) {
    begin = std::min(begin, item.first);
    end = std::max(end, item.last);
  }
  std::vector<uint32_t> number(part.empty() ? 0 : end - begin, 1);
  for (const OpenItem& item : part) {
    std::fill(number.begin() + (item.first - begin) + 1, number.begin() + (item.last - begin), 0);
  }
  // Turns the marks "a part begins here" into the numbers of the parts.
  uint32_t parts = 0;
  for (uint32_t& section : number) section = (parts += section) - 1;
  std::vector<OpenPart> split(parts);
  if (parts == 1) {
    split.front() = std::move(part);
    return split;
  }
  for (const OpenItem& item : part) split[number[item.first - begin]].push_back(item);
  std::erase_if(split, [](const OpenPart& each) { return each.empty(); });
  return split;
}

}  // namespace memtrace::analysis
