// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/training_requests.h"

#include <random>
#include <vector>

#include "base/units.h"
#include "tools/bench/recorded_requests.h"

namespace memtrace::bench {
namespace {

class Training {
 public:
  explicit Training(const TrainingShape& shape) : shape_(shape) {}

  RequestSequence Run() {
    Take(shape_.vocabulary * shape_.width * shape_.parameter_bytes);
    for (uint64_t layer = 0; layer < shape_.layers; ++layer) {
      for (const uint64_t numbers : LayerParameters()) {
        Take(numbers * shape_.parameter_bytes);
        if (shape_.adapter_rank == 0) trained_.push_back(numbers);
      }
      if (shape_.adapter_rank > 0) AddAdapters();
    }
    if (shape_.adapter_rank == 0) trained_.push_back(shape_.vocabulary * shape_.width);
    for (uint32_t step = 0; step < shape_.steps; ++step) Step(step == 0);
    return builder_.Finish();
  }

 private:
  using Blocks = std::vector<uint32_t>;

  // Returns the numbers in each parameter of a layer.
  std::vector<uint64_t> LayerParameters() const {
    const uint64_t width = shape_.width;
    return {width, width, 3 * width * width, 3 * width, width * width,     width,
            width, width, 4 * width * width, 4 * width, 4 * width * width, width};
  }
  void AddAdapters() {
    constexpr int kMatrices = 4;  // two, for the queries and for the values
    for (int i = 0; i < kMatrices; ++i) {
      trained_.push_back(shape_.adapter_rank * shape_.width);
      Take(trained_.back() * sizeof(float));
    }
  }

  void Step(bool is_first) {
    builder_.BeginStep();
    const uint64_t lengths = (shape_.most_length - shape_.least_length) / 8 + 1;
    tokens_ = shape_.batch * (shape_.least_length + 8 * (random_() % lengths));
    std::vector<Blocks> kept;
    kept.reserve(shape_.layers);
    for (uint64_t layer = 0; layer < shape_.layers; ++layer) kept.push_back(Forward());
    const uint32_t logits = Take(tokens_ * shape_.vocabulary * shape_.parameter_bytes);
    const uint32_t losses = Take(tokens_ * shape_.vocabulary * sizeof(float));
    Give(logits);
    Blocks gradients;
    for (; !kept.empty(); kept.pop_back()) Backward(kept.back());
    Give(losses);
    for (const uint64_t numbers : trained_) gradients.push_back(TakeNumbers(numbers));
    if (is_first) {
      for (const uint64_t numbers : trained_) {
        TakeNumbers(numbers);
        TakeNumbers(numbers);
      }
    }
    Update();
    GiveAll(gradients);
  }

  // Returns what the backward pass needs of a layer.
  Blocks Forward() {
    if (!shape_.recomputes) return Activations();
    const uint32_t input = TakeRow(1);
    GiveAll(Activations());
    return {input};
  }
  void Backward(Blocks& kept) {
    Blocks activations = shape_.recomputes ? Activations() : Blocks();
    const uint32_t gradient = TakeRow(1);
    const uint32_t wide = TakeRow(4);
    const uint32_t attention = TakeRow(3);
    Give(wide);
    GiveAll(activations);
    GiveAll(kept);
    Give(attention);
    Give(gradient);
  }
  // Returns the tensors that a layer makes, after its temporary ones are freed.
  Blocks Activations() {
    Blocks made;
    for (const uint64_t widths : {1U, 3U, 1U, 1U, 1U, 4U, 4U, 1U}) {
      const uint32_t temporary = TakeRow(widths);
      made.push_back(TakeRow(widths));
      Give(temporary);
    }
    return made;
  }
  // The optimizer of torch updates all parameters at once, with temporary tensors for all.
  void Update() {
    Blocks temporary;
    for (const uint64_t numbers : trained_) temporary.push_back(TakeNumbers(numbers));
    GiveAll(temporary);
  }

  uint32_t TakeRow(uint64_t widths) {
    return Take(tokens_ * widths * shape_.width * shape_.parameter_bytes);
  }
  uint32_t TakeNumbers(uint64_t numbers) { return Take(numbers * sizeof(float)); }
  uint32_t Take(Bytes bytes) { return builder_.Allocate(bytes, 0); }
  void Give(uint32_t block) { builder_.Free(block); }
  void GiveAll(const Blocks& blocks) {
    for (const uint32_t block : blocks) Give(block);
  }

  const TrainingShape shape_;
  SequenceBuilder builder_;
  std::minstd_rand random_{1};
  std::vector<uint64_t> trained_;  // numbers in each trained parameter
  uint64_t tokens_ = 0;            // of this step
};

}  // namespace

RequestSequence TrainingRequests(const TrainingShape& shape) { return Training(shape).Run(); }

}  // namespace memtrace::bench
