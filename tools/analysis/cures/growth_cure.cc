// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/growth_cure.h"

#include <algorithm>
#include <vector>

namespace memtrace::analysis {
namespace {

// Returns how a variable can take values without their graphs.
std::string WithoutGraph(const Keeper& keeper) {
  const std::string before = " before " + TakerOf(keeper) + " takes it";
  if (keeper.is_in_larger)
    return ".item()" + before + ", which .detach() would leave in a larger block";
  if (keeper.numbers == 1) return ".item() or .detach()" + before;
  const bool is_graph = keeper.kind == Keeper::Kind::kGraph;
  const size_t index = keeper.name.find('[');
  if (!is_graph || index == std::string::npos)
    return (is_graph ? ".detach()" : ".detach().cpu()") + before;
  const std::string name = keeper.name.substr(0, index);
  return name + " = tuple(each.detach() for each in " + name + ") before the next pass takes it";
}

}  // namespace

std::string GrowingLinesText(const GrowthCourse& growth) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> lines;
  for (const GrowingSite& site : growth.sites) {
    const std::string& line = site.line.empty() ? site.site : site.line;
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  std::string text = lines.front();
  for (size_t i = 1; i < std::min(lines.size(), kNamed); ++i) text += ", " + lines[i];
  if (lines.size() > kNamed) text += " and " + std::to_string(lines.size() - kNamed) + " more";
  return text + (lines.size() > 1 ? " make" : " makes");
}

std::string TakerOf(const Keeper& keeper) {
  return "'" + keeper.name + "'" + (keeper.line.empty() ? "" : " (" + keeper.line + ")");
}

std::string WithoutKeeping(const GrowthCourse& growth, bool needs_graphs,
                           const std::string& usual) {
  const std::string made = "what " + GrowingLinesText(growth);
  const std::optional<Keeper>& keeper = growth.keeper;
  if (keeper && keeper->kind == Keeper::Kind::kGradients) {
    return "torch.autograd.grad(..., create_graph=True) instead of the backward at " +
           keeper->line +
           ", or .grad = None of every tensor that it gave one once that was used: nothing else "
           "frees " +
           made;
  }
  if (keeper && (keeper->kind != Keeper::Kind::kElements || keeper->is_in_larger))
    return WithoutGraph(*keeper) + (needs_graphs ? "" : ", or torch.no_grad()") + ": it keeps " +
           made;
  if (keeper && !keeper->metric.empty()) {
    return keeper->metric +
           "(compute_on_cpu=True), or thresholds=N where it has them; reset() after each epoch: "
           "its state '" +
           keeper->name + "' keeps " + made;
  }
  if (growth.sites.front().is_enlarged)
    return made + " is made again each time, larger: allocate it once, or keep it on the host";
  const std::string where = keeper ? " in '" + keeper->name + "'" : "";
  // Cycles are not searched for in a run that completed.
  const bool may_be_cycles = !keeper && growth.is_past && growth.kind == IterationKind::kLoop;
  return "do not keep " + made + where + ": " + usual +
         (may_be_cycles ? "; if no variable keeps it, reference cycles do until gc.collect()" : "");
}

}  // namespace memtrace::analysis
