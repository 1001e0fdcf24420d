// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/stack_hash.h"

namespace memtrace::recorder {
namespace {

// Returns the full 64 x 64 bit product, folded: wyhash's mixing step.
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

uint64_t HashOfStack(std::span<const RawFrame> frames) {
  uint64_t lanes[4] = {kSeeds[0], kSeeds[1], kSeeds[2], kSeeds[3]};
  size_t i = 0;
  for (; i + 4 <= frames.size(); i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) {
      lanes[lane] = MixFrame(lanes[lane], frames[i + lane], kSeeds[lane]);
    }
  }
  for (; i < frames.size(); ++i) lanes[i % 4] = MixFrame(lanes[i % 4], frames[i], kSeeds[i % 4]);
  const uint64_t hash = Mix(Mix(lanes[0] ^ frames.size(), lanes[1] ^ kSeeds[2]),
                            Mix(lanes[2] ^ kSeeds[3], lanes[3] ^ kSeeds[0]) | 1);
  return hash == 0 ? 1 : hash;
}

}  // namespace memtrace::recorder
