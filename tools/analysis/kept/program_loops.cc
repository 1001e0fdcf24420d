// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/program_loops.h"

#include <algorithm>
#include <utility>

namespace memtrace::analysis {
namespace {

constexpr LineId kRoot = ProgramLines::kRoot;
constexpr size_t kMostAnchors = 4;  // of a line
constexpr size_t kMostLoops = 3;
constexpr uint64_t kFewestIterations = 5;
// An inner loop of at most so many iterations belongs to the iteration around it, as does an
// expression that comes back to its first line.
constexpr uint64_t kMostWithinIteration = 4;

}  // namespace

// The visits of a line up to an event; not empty.
struct LineVisits {
  LineId id = kRoot;
  std::vector<Visit> visits;

  uint64_t count() const { return visits.back().number; }
  uint64_t last() const { return visits.back().event; }
  bool repeats() const { return count() >= kFewestIterations; }
};

namespace {

using Seen = LineVisits;

// Returns the line itself if it is visited repeatedly, else the repeated line that was visited
// last.
const Seen* Repeated(const std::vector<Seen>& lines, LineId id) {
  const Seen* latest = nullptr;
  for (const Seen& seen : lines) {
    if (!seen.repeats()) continue;
    if (seen.id == id) return &seen;
    if (latest == nullptr || seen.last() > latest->last()) latest = &seen;
  }
  return latest;
}

// Returns the lines that were visited since the last but one visit of the line `of`: those of its
// loop. Other lines of the function belong to loops that are over.
std::vector<Seen> OfSameLoop(const std::vector<Seen>& lines, const Seen& of) {
  const uint64_t begin = of.visits.size() < 2 ? 0 : of.visits[of.visits.size() - 2].event;
  std::vector<Seen> same;
  for (const Seen& seen : lines)
    if (seen.last() >= begin) same.push_back(seen);
  return same;
}

// Returns the line of the loop that is visited once in an iteration, as far as can be told.
const Seen& VisitedOnce(const std::vector<Seen>& lines, const Seen& of) {
  const Seen* once = &of;
  for (const Seen& seen : lines) {
    const bool is_part = seen.repeats() && seen.count() * kMostWithinIteration >= of.count();
    if (is_part && seen.count() < once->count()) once = &seen;
  }
  return *once;
}

// A function that is called once in an iteration repeats its own lines as often. Of such loops, the
// one that calls modules is kept if the inner ones do not.
std::vector<ProgramLoop> WithoutRepeats(std::vector<ProgramLoop> loops) {
  std::vector<ProgramLoop> kept;
  for (ProgramLoop& loop : loops) {
    if (kept.empty() || kept.back().count() != loop.count()) {
      kept.push_back(std::move(loop));
    } else if (loop.calls_modules && !kept.back().calls_modules) {
      kept.back() = std::move(loop);
    }
  }
  return kept;
}

}  // namespace

void ProgramLoops::Apply(const trace::Allocate& allocation, uint64_t event, uint64_t in_use) {
  const ProgramLines::Path path = lines_.PathOf(allocation.stack);
  if (path.leaf == kRoot) return;
  nodes_.resize(lines_.size());
  MoveTo(path.leaf, event, in_use);
  RecordAnchorVisit(allocation, path, event, in_use);
}

// Visits each line of the new path that is not in the one before.
void ProgramLoops::MoveTo(LineId leaf, uint64_t event, uint64_t in_use) {
  LineId before = std::exchange(current_, leaf);
  while (lines_.Depth(before) > lines_.Depth(leaf)) before = lines_.Parent(before);
  for (LineId now = leaf; now != before; now = lines_.Parent(now)) {
    nodes_[now].visits.Add(event, in_use);
    if (lines_.Depth(before) == lines_.Depth(now)) before = lines_.Parent(before);
  }
}

// An operation within a module may allocate more right after its result (a workspace, the first
// time); that counts as one visit.
void ProgramLoops::RecordAnchorVisit(const trace::Allocate& allocation,
                                     const ProgramLines::Path& path, uint64_t event,
                                     uint64_t in_use) {
  Node& node = nodes_[path.leaf];
  if (path.may_loop_below) return;
  const uint64_t requested = path.calls_module ? 0 : allocation.requested;
  const auto found = std::find_if(
      node.anchors.begin(), node.anchors.end(), [&allocation, requested](const Anchor& anchor) {
        return anchor.stack == allocation.stack && anchor.module == allocation.module &&
               anchor.requested == requested;
      });
  const auto place = static_cast<size_t>(found - node.anchors.begin());
  if (found == node.anchors.end()) {
    node.latest_anchor.reset();
    if (place == kMostAnchors) return;
    node.anchors.push_back({allocation.stack, allocation.module, requested, {}});
  }
  if (!path.calls_module || node.latest_anchor != place)
    node.anchors[place].visits.Add(event, in_use);
  node.latest_anchor = place;
}

LineId ProgramLoops::LastVisitedLine(uint64_t event) const {
  LineId latest = kRoot;
  uint64_t when = 0;
  for (LineId id = kRoot + 1; id < nodes_.size(); ++id) {
    const std::vector<Visit> visits = nodes_[id].visits.Until(event);
    if (visits.empty() || visits.back().event < when) continue;
    if (visits.back().event == when && lines_.Depth(id) < lines_.Depth(latest)) continue;
    latest = id;
    when = visits.back().event;
  }
  return latest;
}

std::optional<ProgramLoop> ProgramLoops::LoopOfLines(LineId id, uint64_t event) const {
  std::vector<Seen> lines;
  for (const LineId other : lines_.OfSameFunction(id)) {
    Seen seen{other, nodes_[other].visits.Until(event)};
    if (!seen.visits.empty()) lines.push_back(std::move(seen));
  }
  const Seen* repeated = Repeated(lines, id);
  if (repeated == nullptr) return std::nullopt;
  const std::vector<Seen> same = OfSameLoop(lines, *repeated);
  const bool is_over = repeated->id != id && IsAfter(id, lines);
  const Seen& once = VisitedOnce(same, *repeated);
  ProgramLoop loop{.line = {},
                   .iterations = once.visits,
                   .is_library = lines_.line(id).is_library,
                   .is_over = is_over};
  LineId first = once.id;
  for (const Seen& seen : same) {
    loop.calls_modules |= lines_.calls_modules(seen.id);
    const bool is_before = lines_.line(seen.id).number < lines_.line(first).number;
    if (is_before && seen.count() >= once.count()) first = seen.id;
  }
  loop.line = lines_.line(first).name;
  return loop;
}

// True if the line is reached for the first time, after all that repeat, and has called no module.
bool ProgramLoops::IsAfter(LineId id, const std::vector<LineVisits>& lines) const {
  if (lines_.calls_modules(id)) return false;
  return std::none_of(lines.begin(), lines.end(), [this, id](const Seen& seen) {
    if (seen.id == id) return seen.count() > 1;
    return seen.repeats() && lines_.line(seen.id).number >= lines_.line(id).number;
  });
}

bool ProgramLoops::IsAfterLoop(trace::StackId stack, uint64_t event) {
  LineId id = lines_.PathOf(stack).leaf;
  nodes_.resize(lines_.size());
  for (; id != kRoot && !lines_.calls_modules(id); id = lines_.Parent(id)) {
    const std::vector<Visit> visits = nodes_[id].visits.Until(event);
    if (!visits.empty() && visits.back().number > 1) return false;
    const std::vector<LineId> lines = lines_.OfSameFunction(id);
    const bool is_after = std::any_of(lines.begin(), lines.end(), [&](LineId other) {
      return lines_.calls_modules(other) && lines_.line(other).number < lines_.line(id).number &&
             Repeats(other, event);
    });
    if (is_after) return true;
  }
  return false;
}

// True if the line is one of a loop, or all of one.
bool ProgramLoops::Repeats(LineId id, uint64_t event) const {
  const std::vector<Visit> visits = nodes_[id].visits.Until(event);
  if (!visits.empty() && visits.back().number >= kFewestIterations) return true;
  return LoopOfOneLine(id, event).has_value();
}

std::optional<ProgramLoop> ProgramLoops::LoopOfOneLine(LineId id, uint64_t event) const {
  std::vector<Visit> fewest;
  for (const Anchor& anchor : nodes_[id].anchors) {
    std::vector<Visit> visits = anchor.visits.Until(event);
    if (visits.empty() || visits.back().number < kFewestIterations) continue;
    if (fewest.empty() || visits.back().number < fewest.back().number) fewest = std::move(visits);
  }
  if (fewest.empty()) return std::nullopt;
  return ProgramLoop{.line = lines_.line(id).name,
                     .iterations = std::move(fewest),
                     .is_library = lines_.line(id).is_library,
                     .calls_modules = lines_.calls_modules(id),
                     .is_of_one_line = true};
}

std::vector<ProgramLoop> ProgramLoops::Around(trace::StackId stack, uint64_t event) {
  LineId id = lines_.PathOf(stack).leaf;
  nodes_.resize(lines_.size());
  if (id == kRoot) id = LastVisitedLine(event);
  std::vector<ProgramLoop> loops;
  for (; id != kRoot; id = lines_.Parent(id)) {
    std::optional<ProgramLoop> loop = LoopOfLines(id, event);
    if (!loop) loop = LoopOfOneLine(id, event);
    if (loop) loops.push_back(*std::move(loop));
  }
  std::stable_partition(loops.begin(), loops.end(),
                        [](const ProgramLoop& loop) { return !loop.is_library; });
  loops = WithoutRepeats(std::move(loops));
  if (loops.size() > kMostLoops) loops.resize(kMostLoops);
  return loops;
}

}  // namespace memtrace::analysis
