// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/training_trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/trace/vocabulary/facts.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace {
namespace {

using trace::Phase;
using trace::Role;

constexpr uint64_t kLayers = 48;
constexpr uint64_t kParametersOfLayer = 12;
constexpr uint64_t kActivationsOfLayer = 30;
constexpr uint64_t kTemporariesOfLayer = 60;
constexpr size_t kSharedFrames = 22;  // of 30: the frames from the script to the layer
constexpr uint64_t kComputeStream = 0;
constexpr uint64_t kCopyStream = 0x5a10;
constexpr std::array<std::string_view, 6> kSublayers = {"ln_1",     "attn.c_attn", "attn.c_proj",
                                                        "mlp.c_fc", "mlp.c_proj",  "ln_2"};

// Reuses the last freed block of a size first, with small and large blocks far apart, as allocators
// do.
class Addresses {
 public:
  uint64_t Take(uint64_t bytes) {
    std::vector<uint64_t>& free = free_[bytes];
    if (!free.empty()) {
      const uint64_t address = free.back();
      free.pop_back();
      return address;
    }
    uint64_t& next = bytes < kLarge ? next_small_ : next_large_;
    return std::exchange(next, next + bytes);
  }
  void Give(uint64_t address, uint64_t bytes) { free_[bytes].push_back(address); }

 private:
  static constexpr uint64_t kLarge = 1 << 20;
  std::map<uint64_t, std::vector<uint64_t>> free_;
  uint64_t next_small_ = 0x7f00'0000'0000;
  uint64_t next_large_ = 0x7f80'0000'0000;
};

struct LiveBlock {
  uint64_t address = 0;
  uint64_t allocated = 0;
};

// The place where a block is allocated.
struct Site {
  trace::StackId stack = 0;
  trace::StringId module = 0;
  trace::StringId owner = 0;
};

class Training {
 public:
  explicit Training(trace::TraceWriter& writer) : writer_(writer) { DefineSites(); }

  void Begin();
  void Step();
  void Fail();
  uint64_t events() const { return sequence_; }

 private:
  void DefineSites();
  trace::StackId DefineStack(std::string_view phase, uint64_t layer, std::string_view sublayer);
  void Forward();
  void Backward();
  void Optimize();
  void Temporaries(const Site& site);

  LiveBlock Allocate(uint64_t requested, const Site& site, uint64_t stream = kComputeStream);
  void Free(const LiveBlock& block);
  void Label(const LiveBlock& block, Role role, uint64_t parameter);
  template <typename E>
  void Say(const E& event) {
    Note(writer_.Write(++sequence_, Now(), event));
  }
  void Note(const absl::Status& status) { status.IgnoreError(); }  // the writer keeps the error
  uint64_t Now() { return time_ns_ += 1'000 + sequence_ % 7 * 300; }
  const Site& SiteOf(bool forward, uint64_t layer, uint64_t number) const {
    return sites_[((forward ? 0 : kLayers) + layer) * kSublayers.size() +
                  number % kSublayers.size()];
  }
  // Returns sizes of a 1,600 wide model: large and small ones, mostly of different sizes.
  static uint64_t BytesOfParameter(uint64_t number) {
    constexpr std::array<uint64_t, 6> kBytes = {3'200, 3'200,     15'360'000,
                                                9'600, 5'120'000, 20'480'000};
    return kBytes[number % kBytes.size()];
  }

  trace::TraceWriter& writer_;
  Addresses addresses_;
  std::vector<Site> sites_;  // forward and backward, by layer and part
  Site script_;
  Site optimizer_;
  std::vector<trace::StringId> paths_;
  std::vector<LiveBlock> activations_;
  std::vector<LiveBlock> gradients_;
  std::vector<LiveBlock> copied_;  // their frees wait for the copy stream
  uint64_t step_ = 0;
  uint64_t sequence_ = 0;
  uint64_t time_ns_ = 0;
  uint64_t number_ = 0;
};

trace::StackId Training::DefineStack(std::string_view phase, uint64_t layer,
                                     std::string_view sublayer) {
  trace::DefinitionWriter& names = writer_.definitions();
  trace::StackId stack = 0;
  const auto call = [&](std::string file, std::string function, uint32_t line) {
    stack = names.DefineStack(
        stack, names.DefineFrame(
                   {.file = std::move(file), .function = std::move(function), .line = line}));
  };
  for (uint32_t depth = 0; depth < kSharedFrames; ++depth) {
    call("/home/user/project/train.py", std::string(phase) + "_" + std::to_string(depth),
         10 + depth);
  }
  call("/home/user/project/model.py", "Block." + std::string(phase), static_cast<uint32_t>(layer));
  for (uint32_t depth = 0; depth < 7; ++depth) {
    call("/opt/torch/nn/modules/" + std::string(sublayer) + ".py", "call_" + std::to_string(depth),
         100 + depth);
  }
  return stack;
}

void Training::DefineSites() {
  trace::DefinitionWriter& names = writer_.definitions();
  for (const std::string_view phase : {"forward", "backward"}) {
    const trace::StringId owner = phase == "forward" ? names.String("train/model") : 0;
    for (uint64_t layer = 0; layer < kLayers; ++layer) {
      for (const std::string_view sublayer : kSublayers) {
        const std::string module =
            "transformer.h." + std::to_string(layer) + "." + std::string(sublayer);
        sites_.push_back({DefineStack(phase, layer, sublayer), names.String(module), owner});
      }
    }
  }
  script_ = {DefineStack("main", 0, "script"), 0, names.String("train")};
  optimizer_ = {DefineStack("step", 0, "adamw"), 0, names.String("train/optimizer")};
  for (uint64_t i = 0; i < kLayers * kParametersOfLayer; ++i) {
    paths_.push_back(names.String("transformer.h." + std::to_string(i / kParametersOfLayer) +
                                  ".weight_" + std::to_string(i % kParametersOfLayer)));
  }
}

LiveBlock Training::Allocate(uint64_t requested, const Site& site, uint64_t stream) {
  const uint64_t allocated = (requested + 511) / 512 * 512;
  const LiveBlock block{addresses_.Take(allocated), allocated};
  Say(trace::Allocate{.address = block.address,
                      .requested = requested,
                      .allocated = allocated,
                      .stream = stream,
                      .stack = site.stack,
                      .owner = site.owner,
                      .module = site.module});
  return block;
}

void Training::Free(const LiveBlock& block) {
  Note(writer_.WriteFreed(sequence_ + 1, Now(), 0, block.address));
  sequence_ += 2;
  addresses_.Give(block.address, block.allocated);
}

void Training::Label(const LiveBlock& block, Role role, uint64_t parameter) {
  Say(trace::Relabel{.address = block.address, .role = role, .path = paths_[parameter]});
}

void Training::Begin() {
  Say(trace::CardSample{
      {.total = uint64_t{80} << 30, .free = uint64_t{79} << 30, .context = uint64_t{500} << 20}});
  trace::DefinitionWriter& names = writer_.definitions();
  Say(trace::Annotate{names.String(trace::fact::kOptimizerClass), names.String("AdamW")});
  Say(trace::Map{.address = 0x7f00'0000'0000, .size = uint64_t{1} << 30});
  Say(trace::Map{.address = 0x7f80'0000'0000, .size = uint64_t{70} << 30});
  Say(trace::PhaseChange{.phase = Phase::kInit});
  for (uint64_t i = 0; i < paths_.size(); ++i)
    Label(Allocate(BytesOfParameter(i), script_), Role::kParameter, i);
  Say(trace::PhaseChange{});
}

// Allocates blocks that live for a few events, with sizes that vary from step to step.
void Training::Temporaries(const Site& site) {
  std::array<LiveBlock, 3> latest{};
  for (uint64_t i = 0; i < kTemporariesOfLayer; ++i) {
    LiveBlock& place = latest[i % latest.size()];
    if (place.address != 0) Free(place);
    place = Allocate((++number_ * 7919 % 4096 + 1) * (i % 4 == 0 ? 4096 : 64), site);
  }
  for (const LiveBlock& block : latest) Free(block);
}

void Training::Forward() {
  Say(trace::PhaseChange{.phase = Phase::kForward});
  for (uint64_t layer = 0; layer < kLayers; ++layer) {
    for (uint64_t i = 0; i < kActivationsOfLayer; ++i)
      activations_.push_back(Allocate(2'097'152 + i % 5 * 3'145'728, SiteOf(true, layer, i)));
    Temporaries(SiteOf(true, layer, layer));
    copied_.push_back(Allocate(1'048'576, SiteOf(true, layer, 0), kCopyStream));
  }
}

void Training::Backward() {
  Say(trace::PhaseChange{.phase = Phase::kBackward});
  for (uint64_t layer = kLayers; layer-- > 0;) {
    Temporaries(SiteOf(false, layer, layer));
    for (uint64_t i = 0; i < kParametersOfLayer; ++i) {
      const uint64_t parameter = layer * kParametersOfLayer + i;
      gradients_.push_back(Allocate(BytesOfParameter(parameter), SiteOf(false, layer, i)));
      Label(gradients_.back(), Role::kGradient, parameter);
    }
    for (uint64_t i = 0; i < kActivationsOfLayer; ++i) {
      Free(activations_.back());
      activations_.pop_back();
    }
    Say(trace::FreeRequested{.address = copied_[layer].address});
  }
  for (const LiveBlock& block : copied_) {
    Say(trace::FreeCompleted{.address = block.address});
    addresses_.Give(block.address, block.allocated);
  }
  copied_.clear();
}

void Training::Optimize() {
  Say(trace::PhaseChange{.phase = Phase::kOptimizer});
  if (step_ == 1) {
    for (uint64_t i = 0; i < 2 * paths_.size(); ++i)
      Label(Allocate(BytesOfParameter(i / 2), optimizer_), Role::kOptimizerState, i / 2);
  }
  Temporaries(optimizer_);
  Say(trace::PhaseChange{});
  for (const LiveBlock& block : gradients_) Free(block);
  gradients_.clear();
}

void Training::Step() {
  Say(trace::Step{.number = ++step_});
  Forward();
  Backward();
  Optimize();
}

void Training::Fail() {
  Say(trace::Step{.number = ++step_});
  Forward();
  trace::OutOfMemory failed;
  failed.requested = failed.allocated = uint64_t{60} << 30;
  failed.stack = SiteOf(true, 0, 0).stack;
  Say(failed);
}

}  // namespace

absl::Status WriteTrainingTrace(const std::string& path, const TrainingTraceOptions& options) {
  auto writer =
      trace::TraceWriter::Open(path, {{"command", "python train.py"}, {"torch", "2.11.0"}},
                               {.if_exists = trace::IfExists::kReplace});
  if (!writer.ok()) return writer.status();
  Training training(**writer);
  training.Begin();
  while (training.events() < options.events && (*writer)->loss().status().ok()) training.Step();
  if (options.out_of_memory) training.Fail();
  (*writer)->Close();
  return (*writer)->loss().status();
}

}  // namespace memtrace
