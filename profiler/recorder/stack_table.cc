// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/stack_table.h"

#include <algorithm>

namespace memtrace::recorder {
namespace {

// Full 64 x 64 bit product, folded: wyhash's mixing step.
uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

constexpr uint64_t kSeeds[4] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3,
                                0x589965cc75374cc3};

uint64_t MixFrame(uint64_t lane, const RawFrame& frame, uint64_t seed) {
  const auto code = reinterpret_cast<uintptr_t>(frame.code);
  const auto instruction = static_cast<uint32_t>(frame.instruction);
  return Mix(lane ^ code, seed ^ instruction);
}

}  // namespace

StackTable::StackTable(SharedTrace& trace, FrameSymbolizer& symbolizer)
    : trace_(trace), symbolizer_(symbolizer) {}

trace::StackId StackTable::Intern(std::span<const RawFrame> frames) {
  frames = frames.first(std::min(frames.size(), kMaxDepth));
  if (frames.empty()) return 0;
  const uint64_t hash = Hash(frames);
  const trace::StackId known = index_.Find(hash);
  return known != 0 ? known : InternNew(frames, hash);
}

// Four lanes, so that the multiplications of neighbouring frames overlap.
uint64_t StackTable::Hash(std::span<const RawFrame> frames) {
  uint64_t lanes[4] = {kSeeds[0], kSeeds[1], kSeeds[2], kSeeds[3]};
  size_t i = 0;
  for (; i + 4 <= frames.size(); i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) {
      lanes[lane] = MixFrame(lanes[lane], frames[i + lane], kSeeds[lane]);
    }
  }
  for (; i < frames.size(); ++i) lanes[i % 4] = MixFrame(lanes[i % 4], frames[i], kSeeds[i % 4]);
  const uint64_t hash = Mix(Mix(lanes[0] ^ frames.size(), lanes[1] ^ kSeeds[1]),
                            Mix(lanes[2] ^ kSeeds[2], lanes[3] ^ kSeeds[3]) | 1);
  return hash == 0 ? 1 : hash;
}

trace::StackId StackTable::InternNew(std::span<const RawFrame> frames, uint64_t hash) {
  const std::vector<NamedFrame> named = NameUnseen(frames);
  MutexLock lock(trace_.mutex);
  if (index_.size() >= kMaxStacks) return 0;
  for (const NamedFrame& frame : named) {
    frames_.try_emplace({frame.raw.code, frame.raw.instruction},
                        trace_.writer->DefineFrame(frame.names));
  }
  trace::StackId stack = 0;
  for (size_t i = frames.size(); i-- > 0;) {
    const auto frame = frames_.find(FrameKey{frames[i].code, frames[i].instruction});
    stack = trace_.writer->DefineStack(stack, frame->second);
  }
  index_.Insert(hash, stack);
  return stack;
}

// Calls the symbolizer without a lock: it may want the interpreter's, whose holder may want ours.
std::vector<StackTable::NamedFrame> StackTable::NameUnseen(std::span<const RawFrame> frames) {
  std::vector<NamedFrame> unseen;
  {
    MutexLock lock(trace_.mutex);
    for (const RawFrame& frame : frames) {
      if (!frames_.contains(FrameKey{frame.code, frame.instruction})) {
        unseen.push_back({.raw = frame, .names = {}});
      }
    }
  }
  for (NamedFrame& frame : unseen) frame.names = symbolizer_.Symbolize(frame.raw);
  return unseen;
}

}  // namespace memtrace::recorder
