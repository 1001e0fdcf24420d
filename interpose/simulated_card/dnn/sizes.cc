// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/dnn/sizes.h"

#include <algorithm>

#include "base/units.h"

namespace memtrace::card {
namespace {

constexpr std::uint64_t kAlignment = 256;

std::uint64_t Aligned(std::uint64_t bytes) { return RoundUp(bytes, kAlignment); }

std::uint64_t Product(int a, int b, int c = 1) {
  return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b) *
         static_cast<std::uint64_t>(c);
}

// The first layer reads the sequence; the others read the output of all directions.
int InputSize(const RnnShape& shape, int pseudo_layer) {
  return pseudo_layer < shape.directions ? shape.input : shape.output * shape.directions;
}

std::uint64_t LayerMatrices(const RnnShape& shape, int pseudo_layer) {
  const std::uint64_t projection = shape.has_projection() ? Product(shape.output, shape.hidden) : 0;
  return Product(shape.gates, shape.hidden, InputSize(shape, pseudo_layer) + shape.output) +
         projection;
}

std::uint64_t MatricesBefore(const RnnShape& shape, int pseudo_layer) {
  std::uint64_t elements = 0;
  for (int layer = 0; layer < pseudo_layer; ++layer) elements += LayerMatrices(shape, layer);
  return elements;
}

constexpr int kGatesOfLstm = 4;
constexpr int kGatesOfGru = 3;

// Returns how many vectors of `hidden` elements a layer keeps for one step.
int KeptVectors(const RnnShape& shape) {
  if (shape.gates == kGatesOfLstm) return shape.gates + 1;
  return shape.gates == kGatesOfGru ? 2 * shape.gates : 1;
}

}  // namespace

std::uint64_t ConvolutionWorkspace(std::initializer_list<std::uint64_t> copied) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t tensor : copied) bytes += Aligned(tensor);
  return bytes;
}

std::uint64_t WideConvolutionWorkspace(std::uint64_t x, std::uint64_t w) {
  constexpr std::uint64_t kMost = std::uint64_t{2} << 30;
  constexpr std::uint64_t kBeside = std::uint64_t{1} << 20;
  const std::uint64_t half = x / 2;
  const std::uint64_t halves = half == 0 ? 0 : std::min<std::uint64_t>(4, kMost / half);
  return Aligned(x) + Aligned(w) + Aligned(x) + kBeside + halves * half;
}

std::uint64_t AttentionForwardWorkspace(const AttentionShape& shape, int multiprocessors) {
  constexpr std::uint64_t kBeside = 256;
  constexpr std::uint64_t kBesidePieces = 128;
  constexpr std::uint64_t kKeysOfAPiece = 128;  // at least
  if (shape.queries > 1) return kBeside;
  const auto card = static_cast<std::uint64_t>(multiprocessors);
  const std::uint64_t groups = shape.batch * shape.key_heads;
  if (groups * 5 >= card * 4) return 0;  // the card is busy without pieces
  std::uint64_t pieces = 1;
  while (2 * pieces * groups <= 2 * card && 2 * pieces * kKeysOfAPiece <= shape.keys) pieces *= 2;
  if (pieces == 1) return 0;
  // Each piece has a partial result in 32 bits, its sum and its maximum.
  const std::uint64_t rows = shape.batch * shape.heads;
  return pieces * rows * (shape.head_size + 2) * sizeof(float) + kBesidePieces;
}

std::uint64_t AttentionBackwardWorkspace(const AttentionShape& shape) {
  constexpr std::uint64_t kBeside = 256;
  if (!shape.is_grouped()) return kBeside;
  const std::uint64_t one = shape.batch * shape.heads * shape.keys * shape.head_size;
  return 2 * one * shape.element_bytes + kBeside;
}

std::uint64_t RnnWeights(const RnnShape& shape) {
  return MatricesBefore(shape, shape.PseudoLayers()) +
         Product(shape.PseudoLayers(), shape.bias_sets * shape.gates, shape.hidden);
}

RnnParameter RnnMatrix(const RnnShape& shape, int pseudo_layer, int linear) {
  const int input = InputSize(shape, pseudo_layer);
  const std::uint64_t begin = MatricesBefore(shape, pseudo_layer);
  const std::uint64_t recurrent = begin + Product(shape.gates, shape.hidden, input);
  if (linear < shape.gates)
    return {begin + Product(linear, shape.hidden, input), shape.hidden, input};
  if (linear < 2 * shape.gates) {
    return {recurrent + Product(linear - shape.gates, shape.hidden, shape.output), shape.hidden,
            shape.output};
  }
  if (!shape.has_projection()) return {};
  return {recurrent + Product(shape.gates, shape.hidden, shape.output), shape.output, shape.hidden};
}

RnnParameter RnnBias(const RnnShape& shape, int pseudo_layer, int linear) {
  if (linear >= shape.bias_sets * shape.gates) return {};
  const int before = pseudo_layer * shape.bias_sets * shape.gates + linear;
  return {MatricesBefore(shape, shape.PseudoLayers()) + Product(before, shape.hidden), shape.hidden,
          1};
}

std::uint64_t RnnReserve(const RnnShape& shape, std::uint64_t steps, std::uint64_t batch,
                         std::uint64_t element_bytes) {
  constexpr std::uint64_t kBeside = 256;
  constexpr std::uint64_t kBitsOfAByte = 8;
  const auto projected =
      static_cast<std::uint64_t>(shape.has_projection() ? shape.hidden + shape.output : 0);
  const std::uint64_t kept = Product(shape.PseudoLayers(), KeptVectors(shape), shape.hidden) +
                             static_cast<std::uint64_t>(shape.PseudoLayers()) * projected;
  const std::uint64_t between = Product(shape.layers - 1, shape.directions, shape.output);
  const std::uint64_t dropped = shape.drops_out ? steps * batch * between / kBitsOfAByte : 0;
  return steps * batch * (kept + between) * element_bytes + dropped + kBeside;
}

std::uint64_t RnnWorkspace(const RnnShape& shape, std::uint64_t steps, std::uint64_t batch,
                           std::uint64_t element_bytes) {
  constexpr std::uint64_t kBeside = std::uint64_t{8} << 20;
  const std::uint64_t products =
      steps * batch * Product(shape.directions, shape.gates, shape.hidden);
  return (products + RnnWeights(shape)) * element_bytes + kBeside;
}

std::uint64_t DropoutStates(int multiprocessors, int threads_per_multiprocessor) {
  constexpr int kStateBytes = 24;
  return Product(multiprocessors, threads_per_multiprocessor, kStateBytes);
}

}  // namespace memtrace::card
