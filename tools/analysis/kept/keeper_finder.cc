// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/keeper_finder.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

using nlohmann::json;

constexpr uint64_t kFewestElements = 4;  // of a container that keeps something of each iteration

// The statement of the hooks about one variable; profiler/trace/format.md has the keys.
struct Statement {
  bool is_graph = false;  // of a tensor; else of a container
  Keeper keeper;
  bool has_graphs = false;          // true if most elements of the container have graphs
  uint64_t span = 0;                // of the graph, in percent of all operations of the program
  bool is_carried = true;           // the variable has a value from one iteration to the next
  std::vector<uint64_t> addresses;  // of blocks of the card; of a container those of some elements
};

std::optional<Statement> Parsed(const std::string& text, int32_t device) {
  const json fact = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!fact.is_object()) return std::nullopt;
  Statement statement;
  try {
    const auto kind = fact.at("kind").get<std::string>();
    statement.is_graph = kind == "graph";
    statement.keeper = {.container = statement.is_graph ? "" : kind,
                        .name = fact.at("name").get<std::string>(),
                        .place = fact.at("place").get<std::string>(),
                        .count = fact.at("count").get<uint64_t>(),
                        .line = {},
                        .hook = fact.value("hook", ""),
                        .numbers = fact.value("numbers", uint64_t{0}),
                        .is_in_larger = fact.value("in_larger", false),
                        .metric = fact.value("metric", "")};
    statement.has_graphs = fact.value("graphs", false);
    statement.span = fact.value("span", uint64_t{0});
    statement.is_carried = fact.value("carried", true);
    for (const json& block : fact.at("blocks")) {
      if (block.at(0).get<int64_t>() == device)
        statement.addresses.push_back(block.at(1).get<uint64_t>());
    }
  } catch (const json::exception&) {
    return std::nullopt;
  }
  return statement;
}

std::vector<Statement> StatementsOf(const Annotations& annotations, int32_t device) {
  std::vector<Statement> statements;
  for (const NumberedAnnotation& fact : AnnotatedAll(annotations, fact::kKeeper)) {
    if (std::optional<Statement> found = Parsed(std::string(fact.value), device))
      statements.push_back(*std::move(found));
  }
  return statements;
}

// Returns the block in use at the moment that contains the address; without a failure, only if it
// is still in use at the end. Null if there is none.
const Block* BlockAt(uint64_t address, const GrowthMoment& moment, const LiveSet& live) {
  const auto after = std::upper_bound(moment.captured.begin(), moment.captured.end(), address,
                                      [&live](uint64_t wanted, const CapturedBlock& entry) {
                                        return wanted < live.block(entry.id).allocation.address;
                                      });
  if (after == moment.captured.begin()) return nullptr;
  const CapturedBlock& entry = *(after - 1);
  const Block& block = live.block(entry.id);
  const bool is_inside = address - block.allocation.address < block.allocation.allocated;
  const bool is_there = !entry.waiting && (moment.is_failure || !block.freed);
  return is_inside && is_there ? &block : nullptr;
}

// Returns the user's line from which the outermost module was called, else the user's innermost.
std::string CallingLine(const std::vector<trace::Frame>& stack) {
  const auto called = std::find_if(stack.rbegin(), stack.rend(), IsModuleCall);
  const std::vector<trace::Frame> outer(called.base(), stack.end());
  return UserLine(called == stack.rend() ? stack : outer);
}

class KeeperFinder {
 public:
  KeeperFinder(const GrowthCourse& growth, const GrowthMoment& moment, const LiveSet& live,
               const EventSource& source)
      : growth_(growth),
        moment_(moment),
        live_(live),
        source_(source),
        statements_(StatementsOf(moment.annotations, moment.device)) {
    for (const GrowingSite& site : growth.sites)
      all_.insert(site.stacks.begin(), site.stacks.end());
    const std::vector<trace::StackId>& first = growth.sites.front().stacks;
    fastest_.insert(first.begin(), first.end());
    for (const CapturedBlock& entry : moment.captured) {
      const Block& block = live.block(entry.id);
      if (entry.waiting || !all_.contains(block.allocation.stack)) continue;
      earliest_ = std::min(earliest_, block.sequence);
      latest_ = std::max(latest_, block.sequence);
    }
  }

  // Prefers a container of what grows fastest, which says most. Graphs keep what no variable names.
  std::optional<Keeper> Run() const {
    if (const Statement* found = Container(fastest_, false)) return found->keeper;
    if (IsMadeByForward()) {
      if (const Statement* found = Container(all_, true))
        return WithLine(*found, Keeper::Kind::kElementsGraphs);
      if (const Statement* found = Graph()) return WithLine(*found, Keeper::Kind::kGraph);
    }
    if (const Statement* found = Container(all_, false)) return found->keeper;
    return GradientsWithGraphs();
  }

 private:
  using Stacks = std::set<trace::StackId>;

  const Statement* Container(const Stacks& stacks, bool with_graphs) const {
    const auto found =
        std::find_if(statements_.begin(), statements_.end(), [&](const Statement& statement) {
          return !statement.is_graph && statement.keeper.count >= kFewestElements &&
                 (statement.has_graphs || !with_graphs) && HoldsMostly(statement, stacks);
        });
    return found == statements_.end() ? nullptr : &*found;
  }

  // Returns, of the graphs that iterations hand on, the one that reaches farthest back, if that is
  // about as far as memory grew; the graph of the latest iteration alone does not reach so far. A
  // graph that is made from one and not handed on reaches as far but keeps nothing.
  const Statement* Graph() const {
    const GrowingSite& site = growth_.sites.front();
    const uint64_t grew = 100 * (site.last - site.since) / std::max<uint64_t>(site.last, 1);
    const Statement* farthest = nullptr;
    for (const Statement& statement : statements_) {
      if (!statement.is_graph || statement.keeper.count < site.last - site.since) continue;
      if (2 * statement.span < grew) continue;
      const auto rank = [](const Statement& graph) {
        return std::pair(graph.is_carried, graph.keeper.count);
      };
      if (farthest == nullptr || rank(statement) > rank(*farthest)) farthest = &statement;
    }
    return farthest;
  }

  const Block* At(uint64_t address) const { return BlockAt(address, moment_, live_); }

  bool HoldsMostly(const Statement& statement, const Stacks& stacks) const {
    constexpr size_t kFewest = 2;  // of two iterations
    size_t held = 0;
    for (const uint64_t address : statement.addresses) {
      const Block* block = At(address);
      held += block != nullptr && stacks.contains(block->allocation.stack) ? 1U : 0U;
    }
    return held >= kFewest && 2 * held >= statement.addresses.size() && Spans(statement);
  }

  // True if its elements were made over half of the time or more in which memory grew. Elements
  // that are all of one iteration, such as the outputs of its layers, are not what grows.
  bool Spans(const Statement& statement) const {
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (const uint64_t address : statement.addresses) {
      const Block* block = At(address);
      if (block == nullptr || !all_.contains(block->allocation.stack)) continue;
      first = std::min(first, block->sequence);
      last = std::max(last, block->sequence);
    }
    return last >= first && 2 * (last - first) >= latest_ - earliest_;
  }

  // Autograd keeps what a forward pass with gradients made.
  bool IsMadeByForward() const { return IsMadeIn(trace::Phase::kForward); }

  bool IsMadeIn(trace::Phase phase) const {
    return std::any_of(moment_.captured.begin(), moment_.captured.end(),
                       [this, phase](const CapturedBlock& entry) {
                         const Block& block = live_.block(entry.id);
                         return block.birth.phase == phase && all_.contains(block.allocation.stack);
                       });
  }

  // backward(create_graph=True) leaves gradients in leaves: a cycle that no collector finds.
  std::optional<Keeper> GradientsWithGraphs() const {
    const std::string place = AnnotatedText(moment_.annotations, fact::kBackwardCreatesGraph);
    if (place.empty() || !IsMadeIn(trace::Phase::kBackward)) return std::nullopt;
    Keeper keeper;
    keeper.kind = Keeper::Kind::kGradients;
    keeper.line = place;
    return keeper;
  }

  Keeper WithLine(const Statement& statement, Keeper::Kind kind) const {
    Keeper keeper = statement.keeper;
    keeper.kind = kind;
    const Block* block = statement.addresses.empty() ? nullptr : At(statement.addresses.front());
    if (block != nullptr) keeper.line = UserLine(source_.Stack(block->allocation.stack));
    return keeper;
  }

  const GrowthCourse& growth_;
  const GrowthMoment& moment_;
  const LiveSet& live_;
  const EventSource& source_;
  std::vector<Statement> statements_;
  Stacks all_;      // that grow
  Stacks fastest_;  // of the site that grows fastest
  // The sequence numbers of the first and the last block that grows.
  uint64_t earliest_ = UINT64_MAX;
  uint64_t latest_ = 0;
};

}  // namespace

std::optional<Keeper> FindKeeper(const GrowthCourse& growth, const GrowthMoment& moment,
                                 const LiveSet& live, const EventSource& source) {
  return KeeperFinder(growth, moment, live, source).Run();
}

std::optional<Keeper> FindKeeperOfGraphs(const GrowthMoment& moment, const LiveSet& live,
                                         const EventSource& source) {
  std::optional<Statement> most;
  for (Statement& statement : StatementsOf(moment.annotations, moment.device)) {
    if (statement.is_graph || !statement.has_graphs || statement.addresses.empty()) continue;
    if (!most || statement.keeper.count > most->keeper.count) most = std::move(statement);
  }
  if (!most) return std::nullopt;
  most->keeper.kind = Keeper::Kind::kElementsGraphs;
  if (const Block* block = BlockAt(most->addresses.front(), moment, live))
    most->keeper.line = CallingLine(source.Stack(block->allocation.stack));
  return most->keeper;
}

}  // namespace memtrace::analysis
