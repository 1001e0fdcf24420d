// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/stack_hash.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tools/interchange/torch_snapshot.h"

namespace memtrace::recorder {
namespace {

using Stack = std::vector<RawFrame>;

// Returns a frame whose code is placed as interpreters do: some hundred bytes apart in one region.
RawFrame FrameAt(uint64_t code, int32_t instruction) {
  const uint64_t address = 0x7f3a5c000000 + code * 0x1a0;
  // An identity, never followed. NOLINTNEXTLINE(performance-no-int-to-ptr)
  return {.code = reinterpret_cast<const void*>(address), .instruction = instruction};
}

// Counts the stacks with the same hash as another one.
class Collisions {
 public:
  void Add(const Stack& stack) {
    const auto [known, is_new] = stacks_.try_emplace(HashOfStack(stack), stack);
    if (!is_new && known->second != stack) ++count_;
  }
  size_t count() const { return count_; }
  size_t stacks() const { return stacks_.size(); }

 private:
  absl::flat_hash_map<uint64_t, Stack> stacks_;
  size_t count_ = 0;
};

TEST(StackHashTest, LinesOfOneScriptDoNotCollide) {
  Collisions collisions;
  for (uint64_t code = 0; code < 500; ++code)
    for (int32_t line = -1; line < 400; ++line) collisions.Add({FrameAt(code, 2 * line)});
  EXPECT_EQ(collisions.count(), 0U);
  EXPECT_EQ(collisions.stacks(), 500U * 401U);
}

TEST(StackHashTest, ChangeOfAnyFrameChangesTheHash) {
  for (size_t depth = 1; depth <= 13; ++depth) {
    Stack stack;
    for (size_t i = 0; i < depth; ++i) stack.push_back(FrameAt(i, 10));
    std::set<uint64_t> hashes = {HashOfStack(stack)};
    for (size_t i = 0; i < depth; ++i) {
      Stack other = stack;
      other[i].instruction = 12;
      hashes.insert(HashOfStack(other));
      other[i] = FrameAt(100 + i, 10);
      hashes.insert(HashOfStack(other));
    }
    EXPECT_EQ(hashes.size(), 1 + 2 * depth) << "depth " << depth;
  }
}

TEST(StackHashTest, ChangeOfAnyBitOfAnyFrameChangesTheHash) {
  for (size_t depth = 1; depth <= 9; ++depth) {
    const Stack stack(depth, FrameAt(7, 10));
    std::set<uint64_t> hashes = {HashOfStack(stack)};
    for (size_t i = 0; i < depth; ++i) {
      for (unsigned bit = 0; bit < 31; ++bit) {
        Stack other = stack;
        other[i].instruction ^= int32_t{1} << bit;
        hashes.insert(HashOfStack(other));
      }
    }
    EXPECT_EQ(hashes.size(), 1 + 31 * depth) << "depth " << depth;
  }
}

TEST(StackHashTest, OrderAndNumberOfFramesChangeTheHash) {
  std::set<uint64_t> hashes;
  for (size_t depth = 1; depth <= 200; ++depth)
    hashes.insert(HashOfStack(Stack(depth, FrameAt(1, 2))));
  EXPECT_EQ(hashes.size(), 200U);
  for (size_t depth = 2; depth <= 12; ++depth) {
    Stack stack(depth, FrameAt(1, 2));
    for (size_t i = 0; i < depth; ++i) {
      stack[i] = FrameAt(2, 2);
      hashes.insert(HashOfStack(stack));
      stack[i] = FrameAt(1, 2);
    }
  }
  EXPECT_EQ(hashes.size(), 200U + 77U);
}

TEST(StackHashTest, GeneratedStacksDoNotCollide) {
  Collisions collisions;
  for (uint64_t depth = 2; depth <= 9; ++depth) {
    for (uint64_t number = 0; number < 30'000; ++number) {
      Stack stack;
      for (uint64_t i = 0, rest = number; i < depth; ++i, rest /= 8)
        stack.push_back(FrameAt(rest % 2 + 3 * i, static_cast<int32_t>(rest % 8)));
      collisions.Add(stack);
    }
  }
  EXPECT_EQ(collisions.count(), 0U);
}

// Frames of snapshots have names but no addresses, so each function gets a code object of its own.
class NamedCode {
 public:
  RawFrame FrameOf(const trace::Frame& frame) {
    const auto code = codes_.try_emplace({frame.file, frame.function}, codes_.size()).first;
    return FrameAt(code->second, 2 * static_cast<int32_t>(frame.line));
  }

 private:
  std::map<std::pair<std::string, std::string>, uint64_t> codes_;
};

void AddStacks(const std::filesystem::path& snapshot, NamedCode& code, Collisions& collisions) {
  std::ifstream file(snapshot, std::ios::binary);
  const std::string pickle{std::istreambuf_iterator<char>(file), {}};
  const auto read = interchange::TorchSnapshot::Read(pickle);
  if (!read.ok()) return;  // some files are not snapshots
  absl::flat_hash_set<trace::StackId> seen;
  read->ForEach([&](const trace::Event& event) {
    const auto* alive = std::get_if<trace::Alive>(&event.payload);
    const auto* allocation =
        alive != nullptr ? &alive->block : std::get_if<trace::Allocate>(&event.payload);
    if (allocation == nullptr || !seen.insert(allocation->stack).second) return;
    Stack stack;
    for (const trace::Frame& frame : read->Stack(allocation->stack))
      stack.push_back(code.FrameOf(frame));
    if (stack.empty()) return;
    collisions.Add(stack);
    // Also adds the outer part alone, as in a shorter script, down to one line.
    for (size_t left = 1; left <= 4 && left < stack.size(); ++left)
      collisions.Add({stack.end() - static_cast<ptrdiff_t>(left), stack.end()});
  });
}

TEST(StackHashTest, StacksOfRealProgramsDoNotCollide) {
  const char* set = std::getenv("MEMTRACE_CORPUS");
  const std::filesystem::path corpus = set != nullptr ? set : MEMTRACE_SOURCE "/../shared";
  NamedCode code;
  Collisions collisions;
  for (const char* folder : {"snapshots", "snapshots-more"}) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(corpus / folder, none))
      if (entry.path().extension() != ".md") AddStacks(entry.path(), code, collisions);
  }
  if (collisions.stacks() == 0)
    GTEST_SKIP() << "no snapshots in " << corpus << " (set MEMTRACE_CORPUS)";
  EXPECT_EQ(collisions.count(), 0U);
  EXPECT_GT(collisions.stacks(), 1000U);
}

}  // namespace
}  // namespace memtrace::recorder
