// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/coding/call_tree.h"

namespace memtrace::trace {

CallTree::Interned CallTree::InternFrame(const FrameNames& frame) {
  const std::tuple key(frame.file, frame.function, frame.line);
  if (const auto known = frame_ids_.find(key); known != frame_ids_.end()) {
    return {.id = known->second};
  }
  if (!interns_new_ || frames_.size() >= kMaxFrames) return {};
  const auto id = static_cast<FrameId>(frames_.size() + 1);
  frame_ids_.emplace(key, id);
  DefineFrame(id, frame);
  return {.id = id, .is_new = true};
}

CallTree::Interned CallTree::InternStack(StackId parent, FrameId frame) {
  const uint64_t key = uint64_t{parent} << 32 | frame;
  if (const auto known = stack_ids_.find(key); known != stack_ids_.end()) {
    return {.id = known->second};
  }
  if (!interns_new_ || nodes_.size() >= kMaxStacks) return {.id = parent};
  const auto id = static_cast<StackId>(nodes_.size() + 1);
  stack_ids_.emplace(key, id);
  nodes_.emplace(id, Node{.parent = parent, .frame = frame});
  return {.id = id, .is_new = true};
}

void CallTree::DefineFrame(FrameId id, const FrameNames& frame) {
  if (id != 0) frames_.emplace(id, frame);
}

bool CallTree::DefineStack(StackId id, StackId parent, FrameId frame) {
  if (parent >= id) return false;
  nodes_.emplace(id, Node{.parent = parent, .frame = frame});
  return true;
}

std::vector<FrameNames> CallTree::Frames(StackId stack) const {
  std::vector<FrameNames> frames;
  for (auto node = nodes_.find(stack); node != nodes_.end();
       node = nodes_.find(node->second.parent)) {
    const auto frame = frames_.find(node->second.frame);
    frames.push_back(frame == frames_.end() ? FrameNames{} : frame->second);
  }
  return frames;
}

bool CallTree::Contains(StackId stack) const {
  while (stack != 0) {
    const auto node = nodes_.find(stack);
    if (node == nodes_.end()) return false;
    if (node->second.frame != 0 && !frames_.contains(node->second.frame)) return false;
    stack = node->second.parent;
  }
  return true;
}

}  // namespace memtrace::trace
