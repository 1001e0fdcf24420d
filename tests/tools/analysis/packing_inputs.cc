// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/analysis/packing_inputs.h"

#include <fstream>
#include <limits>
#include <string>

#include "base/check.h"

namespace memtrace::analysis {
namespace {

constexpr uint64_t kEver = std::numeric_limits<uint64_t>::max();

// A program of `layers` equal layers, written down as it runs.
class Training {
 public:
  explicit Training(uint32_t layers) : layers_(layers) {
    for (uint32_t i = 0; i < kParameters * layers_; ++i) {
      parameters_.push_back((Bytes{1} << (10 + random_() % 14)) + 512);
      Keep(parameters_.back());
    }
  }

  void Step(uint32_t number, uint64_t batch) {
    Forward(batch);
    Backward();
    if (number == 0) {
      for (const Bytes size : parameters_) {
        Keep(size);
        Keep(size);
      }
    }
    for (const PackingItem& gradient : gradients_) {
      Die({now_, now_ + 2, gradient.size});
      Die({gradient.begin, now_ + 1, gradient.size});
    }
    gradients_.clear();
  }

  std::vector<PackingItem> Take() && { return std::move(items_); }

 private:
  static constexpr uint32_t kParameters = 6;  // of one layer
  static constexpr uint32_t kOperations = 8;

  void Keep(Bytes size) { Die({now_, kEver, size}); }
  void Die(const PackingItem& item) {
    items_.push_back(item);
    ++now_;
  }

  void Forward(uint64_t batch) {
    for (uint32_t operation = 0; operation < kOperations * layers_; ++operation) {
      const Bytes size = batch * ((Bytes{1} << (8 + operation * 7 % 9)) + 512);
      Die({now_, now_ + 3, size / 1024 * 512});
      Die({now_, now_ + 5, size});
      activations_.push_back({now_++, 0, size});
    }
  }

  void Backward() {
    for (uint32_t layer = layers_; layer-- > 0;) {
      for (uint32_t operation = 0; operation < kOperations; ++operation) {
        const PackingItem activation = activations_.back();
        activations_.pop_back();
        Die({now_, now_ + 5, activation.size});
        Die({activation.begin, now_ + 1, activation.size});
      }
      for (uint32_t i = 0; i < kParameters; ++i) {
        gradients_.push_back({now_++, 0, parameters_[layer * kParameters + i]});
      }
    }
  }

  uint32_t layers_;
  std::mt19937 random_{1};
  uint64_t now_ = 0;
  std::vector<Bytes> parameters_;
  std::vector<PackingItem> activations_;  // alive, their ends unknown
  std::vector<PackingItem> gradients_;
  std::vector<PackingItem> items_;
};

}  // namespace

std::vector<PackingItem> MiniMallocItems(char letter) {
  const std::string path =
      std::string(MEMTRACE_SOURCE) + "/tests/tools/analysis/minimalloc/" + letter + ".1048576.csv";
  std::ifstream file(path);
  std::string field;
  MEMTRACE_CHECK(std::getline(file, field));  // the names of the columns
  std::vector<PackingItem> items;
  while (std::getline(file, field, ',')) {
    PackingItem item;
    char comma = 0;
    file >> item.begin >> comma >> item.end >> comma >> item.size >> std::ws;
    MEMTRACE_CHECK(file || file.eof());
    items.push_back(item);
  }
  return items;
}

std::vector<PackingItem> TrainingItems(uint32_t layers, uint32_t steps, bool vary) {
  Training training(layers);
  for (uint32_t step = 0; step < steps; ++step) {
    training.Step(step, vary ? 32 + 13 * step % 64 : 64);
  }
  return std::move(training).Take();
}

std::vector<PackingItem> RandomItems(std::mt19937_64& random, size_t count, uint64_t span,
                                     uint64_t longest, Bytes largest) {
  std::vector<PackingItem> items;
  items.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t begin = random() % span;
    const uint64_t lifetime = 1 + random() % longest;
    items.push_back({begin, begin + lifetime, 512 * (1 + random() % (largest / 512))});
  }
  return items;
}

}  // namespace memtrace::analysis
