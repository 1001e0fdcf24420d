// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/workloads.h"

#include <algorithm>
#include <array>
#include <random>

#include "base/units.h"
#include "messages/message.h"
#include "tools/bench/recorded_requests.h"
#include "tools/bench/training_requests.h"

namespace memtrace::bench {
namespace {

constexpr size_t kPairs = 20'000;

// Allocates and frees the same block again and again, with one next to it in use.
RequestSequence HotPairs(Bytes bytes) {
  SequenceBuilder builder;
  builder.Allocate(bytes, 0);
  for (size_t i = 0; i < kPairs; ++i) builder.Free(builder.Allocate(bytes, 0));
  return builder.Finish();
}

// Frees a random one of many live blocks and allocates one of another size.
RequestSequence MixedPairs(size_t live) {
  static constexpr std::array<Bytes, 10> kSizes = {512,   2_KiB, 8_KiB, 64_KiB, 256_KiB,
                                                   1_MiB, 3_MiB, 8_MiB, 24_MiB, 64_MiB};
  const Bytes most = 40_GiB / live;
  SequenceBuilder builder;
  std::minstd_rand random(1);
  const auto size = [&] { return std::min(kSizes[random() % kSizes.size()], most); };
  std::vector<uint32_t> blocks(live);
  for (uint32_t& block : blocks) block = builder.Allocate(size(), 0);
  for (size_t i = 0; i < std::max(kPairs, 4 * live); ++i) {
    uint32_t& block = blocks[random() % live];
    builder.Free(block);
    block = builder.Allocate(size(), 0);
  }
  return builder.Finish();
}

}  // namespace

const std::vector<Workload>& Workloads() {
  static const auto& all = *new std::vector<Workload>{
      {"hot-512", Marked("one block of 512 bytes again and again"), [] { return HotPairs(512); }},
      {"hot-1MiB", Marked("one block of 1 MiB again and again"), [] { return HotPairs(1_MiB); }},
      {"hot-64MiB", Marked("one block of 64 MiB again and again"), [] { return HotPairs(64_MiB); }},
      {"mixed-256", Marked("256 live blocks of ten sizes"), [] { return MixedPairs(256); }},
      {"mixed-5000", Marked("5,000 live blocks of ten sizes"), [] { return MixedPairs(5'000); }},
      {"gpt2-124m", Marked("GPT-2 of 124 million parameters, each step with another length"),
       [] { return TrainingRequests({}); }},
      {"gpt2-345m-recompute",
       Marked("GPT-2 of 345 million parameters with recomputation (after STAlloc)"),
       [] {
         return TrainingRequests({.layers = 24, .width = 1'024, .batch = 16, .recomputes = true});
       }},
      {"opt-1.3b-lora-recompute",
       Marked("OPT of 1.3 billion parameters, LoRA and recomputation (after GMLake)"),
       [] {
         return TrainingRequests({.layers = 24,
                                  .width = 2'048,
                                  .vocabulary = 50'272,
                                  .batch = 16,
                                  .most_length = 512,
                                  .recomputes = true,
                                  .adapter_rank = 128,
                                  .parameter_bytes = 2});
       }},
  };
  return all;
}

const Workload* FindWorkload(std::string_view name) {
  const auto& all = Workloads();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const Workload& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace memtrace::bench
