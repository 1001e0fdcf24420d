// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_SIZES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_SIZES_H_

#include <cstdint>
#include <initializer_list>

namespace memtrace::card {

// The memory that cuDNN requests from its caller. Its answers on a real card are not published;
// each rule here names its source, and docs/design/simulated-card.md lists them as assumed. The
// weights of an RNN are the exception: their number is arithmetic.

// Tensor cores read channels-last: a convolution's tensors in another layout are copied into and
// out of that layout, and the copies are the workspace. Takes the bytes of those tensors; each copy
// begins at a multiple of 256 bytes, as cudaMalloc would place it.
std::uint64_t ConvolutionWorkspace(std::initializer_list<std::uint64_t> copied);

// The forward pass in TF32 from 512 or more channels to as many, with a window of more than one
// element, at stride 1: copies of the input, the filter and the output, 1 MiB, and scratch of up to
// twice the tensor, in halves of it, within 2 GiB. Derived from published peaks and reserved bytes
// of two VAEs on an RTX 4090 (docs/design/simulated-card.md). Takes the bytes of the input and of
// the filter; the output is as large as the input.
std::uint64_t WideConvolutionWorkspace(std::uint64_t x, std::uint64_t w);

struct AttentionShape {
  std::uint64_t batch = 0;
  std::uint64_t heads = 0;
  std::uint64_t key_heads = 0;  // fewer than `heads` if grouped
  std::uint64_t queries = 0;    // in a sequence
  std::uint64_t keys = 0;
  std::uint64_t head_size = 0;
  std::uint64_t element_bytes = 2;

  bool is_grouped() const { return key_heads < heads; }
};

// Attention on an H200 by cuDNN 9 (tests/gpu/recordings/h200/sizes_attention.jsonl: all 228
// programs match). Forward: 256 bytes; for a single query, as in decoding, the partial results of
// the pieces into which the keys are cut to keep the card busy, if there is more than one piece.
// Backward: 256 bytes, and for grouped heads dK and dV as if each head had its own.
std::uint64_t AttentionForwardWorkspace(const AttentionShape& shape, int multiprocessors);
std::uint64_t AttentionBackwardWorkspace(const AttentionShape& shape);

struct RnnShape {
  int gates = 1;  // matrices that a layer applies to its input: LSTM 4, GRU 3, plain 1
  int layers = 1;
  int directions = 1;
  int input = 1;
  int hidden = 1;
  int output = 1;  // for a layer and direction: hidden, or the size of the projection
  int bias_sets = 2;
  bool drops_out = false;  // between its layers

  int PseudoLayers() const { return layers * directions; }
  bool has_projection() const { return output != hidden; }
};

// A matrix or bias inside the weights, in elements. rows is 0 if it does not exist.
struct RnnParameter {
  std::uint64_t offset = 0;
  int rows = 0;
  int columns = 0;
};

// Layout: for each pseudo-layer its input matrices, its recurrent ones, its projection; then for
// each pseudo-layer its biases. (A pseudo-layer is one direction of a layer.) The matrices of all
// gates are contiguous, because callers treat them as one, as cudnn_adv.h's users rely on.
std::uint64_t RnnWeights(const RnnShape& shape);
// linear counts the gates' input matrices, then the recurrent ones, then the projection.
RnnParameter RnnMatrix(const RnnShape& shape, int pseudo_layer, int linear);
RnnParameter RnnBias(const RnnShape& shape, int pseudo_layer, int linear);

// Bytes that the forward pass keeps for the backward pass: per step, sequence, layer and direction
// the value of each gate (twice for a GRU, for its recurrent products) and the cell of an LSTM,
// with a projection the output before and after it; between layers, the next layer's input, and
// with dropout a bit for each element of it; and 256 more. Matches an H200
// (tests/gpu/recordings/h200/sizes_recurrent.jsonl: all 56).
std::uint64_t RnnReserve(const RnnShape& shape, std::uint64_t steps, std::uint64_t batch,
                         std::uint64_t element_bytes);
// Bytes for the products of the widest layer's input with its matrices, all steps at once, for the
// weights in another order, and 8 MiB: at most a fourth less than on an H200 in fp32, at most half
// less in fp16 (the same recording).
std::uint64_t RnnWorkspace(const RnnShape& shape, std::uint64_t steps, std::uint64_t batch,
                           std::uint64_t element_bytes);

// Bytes of the random generators' states: 24 bytes for each thread that the card can keep resident
// (an H200: 6,488,064).
std::uint64_t DropoutStates(int multiprocessors, int threads_per_multiprocessor);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_SIZES_H_
