// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/growth_cure.h"

#include <algorithm>
#include <vector>

#include "messages/message.h"

namespace memtrace::analysis {
namespace {

// Returns how a variable can take values without their graphs.
std::string WithoutGraph(const Keeper& keeper) {
  const std::string taker = TakerOf(keeper);
  if (keeper.is_in_larger)
    return Message(".item() before $0 takes it: .detach() would leave it in a larger block", taker);
  if (keeper.numbers == 1) return Message(".item() or .detach() before $0 takes it", taker);
  if (keeper.kind != Keeper::Kind::kGraph)
    return Message(".detach().cpu() before $0 takes it", taker);
  const size_t index = keeper.name.find('[');
  if (index == std::string::npos) return Message(".detach() before $0 takes it", taker);
  return Message("$0 = tuple(each.detach() for each in $0) before the next pass takes it",
                 keeper.name.substr(0, index));
}

// Returns the change for a variable that keeps the graphs of what it takes.
std::string WithoutGraphs(const Keeper& keeper, bool needs_graphs, const std::string& lines) {
  const std::string change = WithoutGraph(keeper);
  if (needs_graphs)
    return Message("$0; '$1' keeps what is allocated at $2", change, keeper.name, lines);
  return Message("$0, or torch.no_grad(); '$1' keeps what is allocated at $2", change, keeper.name,
                 lines);
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
  return lines.size() <= kNamed ? text : Message("$0 and $1 more", text, lines.size() - kNamed);
}

std::string TakerOf(const Keeper& keeper) {
  return "'" + keeper.name + "'" + (keeper.line.empty() ? "" : " (" + keeper.line + ")");
}

std::string WithoutKeeping(const GrowthCourse& growth, bool needs_graphs,
                           const std::string& usual) {
  const std::string lines = GrowingLinesText(growth);
  const std::optional<Keeper>& keeper = growth.keeper;
  if (keeper && keeper->kind == Keeper::Kind::kGradients)
    return Message(
        "torch.autograd.grad(..., create_graph=True) instead of the backward at $0, or .grad = "
        "None on every tensor to which it gave one, once that was used; nothing else frees what is "
        "allocated at $1",
        keeper->line, lines);
  if (keeper && (keeper->kind != Keeper::Kind::kElements || keeper->is_in_larger))
    return WithoutGraphs(*keeper, needs_graphs, lines);
  if (keeper && !keeper->metric.empty())
    return Message(
        "$0(compute_on_cpu=True), or thresholds=N if it takes that; reset() after each epoch; its "
        "state '$1' keeps what is allocated at $2",
        keeper->metric, keeper->name, lines);
  if (growth.sites.front().is_enlarged)
    return Message(
        "what is allocated at $0 is allocated again each time, and larger: allocate it once, or "
        "keep it on the host",
        lines);
  if (keeper)
    return Message("do not keep what is allocated at $0 in '$1': $2", lines, keeper->name, usual);
  // Cycles are not searched for in a run that completed.
  if (growth.is_past && growth.kind == IterationKind::kLoop)
    return Message(
        "do not keep what is allocated at $0: $1; if no variable keeps it, reference cycles keep "
        "it until gc.collect()",
        lines, usual);
  return Message("do not keep what is allocated at $0: $1", lines, usual);
}

}  // namespace memtrace::analysis
