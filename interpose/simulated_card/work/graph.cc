// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/graph.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace memtrace::card {
namespace {

std::string_view NameOf(NodeType type) {
  constexpr std::array<std::string_view, 12> kNames = {
      "kernel",     "memcpy",       "memset", "host", "graph",     "empty",
      "wait event", "event record", "signal", "wait", "mem alloc", "mem free"};
  const auto number = static_cast<std::size_t>(type);
  return number < kNames.size() ? kNames[number] : "node";
}

}  // namespace

bool GraphNode::DependsOn(const GraphNode* other) const {
  return std::find(dependencies.begin(), dependencies.end(), other) != dependencies.end();
}

Result GraphNode::MemoryOf(NodeType expected, GraphBlockPointer* found) const {
  if (block == nullptr || type != expected) return Result::kInvalidValue;
  *found = block;
  return Result::kSuccess;
}

Graph::Nodes Graph::AllNodes() const {
  Nodes all;
  for (const auto& node : nodes) all.push_back(node.get());
  return all;
}

Graph::Edges Graph::AllEdges() const {
  Edges all;
  for (const auto& node : nodes) {
    for (GraphNode* dependency : node->dependencies) all.emplace_back(dependency, node.get());
  }
  return all;
}

Graph::Nodes Graph::DependentsOf(const GraphNode* node) const {
  Nodes dependents;
  for (const auto& other : nodes) {
    if (other->DependsOn(node)) dependents.push_back(other.get());
  }
  return dependents;
}

// Uses Kahn's algorithm: nodes whose dependencies are all placed come next, in the graph's own
// order.
bool Graph::Order(Nodes* ordered) const {
  std::unordered_map<const GraphNode*, std::size_t> missing;
  std::unordered_map<const GraphNode*, Nodes> dependents;
  for (const auto& node : nodes) {
    missing[node.get()] = node->dependencies.size();
    for (const GraphNode* dependency : node->dependencies)
      dependents[dependency].push_back(node.get());
    if (node->dependencies.empty()) ordered->push_back(node.get());
  }
  for (std::size_t next = 0; next < ordered->size(); ++next) {
    for (GraphNode* dependent : dependents[(*ordered)[next]]) {
      if (--missing[dependent] == 0) ordered->push_back(dependent);
    }
  }
  return ordered->size() == nodes.size();
}

std::string Graph::Dot() const {
  std::unordered_map<const GraphNode*, std::string> names;
  std::string text = "digraph simulated_card {\n";
  for (const auto& node : nodes) {
    const std::string name = "node_" + std::to_string(names.size());
    text += "  " + name + " [label=\"" + std::string(NameOf(node->type)) + "\"];\n";
    names.emplace(node.get(), name);
  }
  for (const auto& node : nodes) {
    for (const GraphNode* dependency : node->dependencies)
      text += "  " + names.at(dependency) + " -> " + names.at(node.get()) + ";\n";
  }
  text += "}\n";
  return text;
}

}  // namespace memtrace::card
