// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/stack_tree.h"

#include "tools/analysis/source/frames.h"
#include "tools/report/words/printable.h"

namespace memtrace::report {
namespace {

constexpr size_t kMostOfName = 200;

std::string TextOf(const trace::Frame& frame) {
  std::string text = analysis::ShortFrame(frame);
  if (!analysis::IsNative(frame)) text += " " + frame.function;
  return Shortened(Printable(text), kMostOfName);
}

}  // namespace

uint32_t StackTree::NameOf(const trace::Frame& frame) {
  std::string text = TextOf(frame);
  const auto [entry, is_new] =
      by_text_.try_emplace(std::move(text), static_cast<uint32_t>(names_.size()));
  if (is_new) {
    const bool is_user = !analysis::IsNative(frame) && !analysis::IsLibraryFile(frame.file);
    names_.push_back({entry->first, is_user});
  }
  return entry->second;
}

StackTree::Node StackTree::Below(Node parent, uint32_t name) {
  const auto [entry, is_new] =
      children_.try_emplace({parent, name}, static_cast<Node>(parents_.size()));
  if (is_new) {
    parents_.push_back(parent);
    frames_.push_back(name);
  }
  return entry->second;
}

StackTree::Node StackTree::Of(trace::StackId stack) {
  if (stack == 0) return 0;
  const auto [entry, is_new] = known_.try_emplace(stack, 0);
  if (!is_new) return entry->second;
  const std::vector<trace::Frame> frames = source_.Stack(stack);
  if (parents_.size() + frames.size() > most_) return 0;
  Node node = 0;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    node = Below(node, NameOf(*frame));
  return entry->second = node;
}

}  // namespace memtrace::report
