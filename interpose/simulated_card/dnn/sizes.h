// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_SIZES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_SIZES_H_

#include <cstdint>
#include <initializer_list>

namespace memtrace::card {

// How much memory cuDNN has its caller give it. Its answers on a real card are not published; each
// rule here says what it is derived from, and docs/simulated-card.md lists them as assumed. The
// weights of an RNN are the exception: their number is arithmetic.

// Tensor cores read channels-last: tensors of a convolution that lie otherwise are copied into and
// out of that layout, and the copies are the workspace. Takes the bytes of those tensors; each copy
// begins at a multiple of 256 bytes, as cudaMalloc would place it.
std::uint64_t ConvolutionWorkspace(std::initializer_list<std::uint64_t> copied);

// The forward pass in TF32 of 512 and more channels to as many, by a window of more than one
// element, at stride 1: copies of what is read, of the filter and of what is written, 1 MiB, and
// scratch of up to twice the tensor, taken by halves of it, within 2 GiB. Derived from published
// peaks and reserved bytes of two VAEs on an RTX 4090 (docs/simulated-card.md). Takes the bytes of
// the tensor that is read and of the filter; what is written is as large as what is read.
std::uint64_t WideConvolutionWorkspace(std::uint64_t x, std::uint64_t w);

struct AttentionShape {
  std::uint64_t batch = 0;
  std::uint64_t heads = 0;
  std::uint64_t key_heads = 0;  // fewer than heads: grouped
  std::uint64_t queries = 0;    // of a sequence
  std::uint64_t keys = 0;
  std::uint64_t head_size = 0;
  std::uint64_t element_bytes = 2;

  bool is_grouped() const { return key_heads < heads; }
};

// Attention on an H200 by cuDNN 9 (tests/gpu/recordings/h200/sizes_attention.jsonl: all 228
// programs are met). Forward: 256 bytes; for a single query, as in decoding, the partial results of
// the pieces that the keys are cut into so that the card is busy, if there is more than one piece.
// Backward: 256 bytes, and for grouped heads dK and dV as if each head had its own.
std::uint64_t AttentionForwardWorkspace(const AttentionShape& shape, int multiprocessors);
std::uint64_t AttentionBackwardWorkspace(const AttentionShape& shape);

struct RnnShape {
  int gates = 1;  // matrices that a layer applies to its input: LSTM 4, GRU 3, plain 1
  int layers = 1;
  int directions = 1;
  int input = 1;
  int hidden = 1;
  int output = 1;  // of a layer and direction: hidden, or the size of the projection
  int bias_sets = 2;
  bool drops_out = false;  // between its layers

  int PseudoLayers() const { return layers * directions; }
  bool has_projection() const { return output != hidden; }
};

// A matrix or bias inside the weights, in elements. rows is 0 where there is none.
struct RnnParameter {
  std::uint64_t offset = 0;
  int rows = 0;
  int columns = 0;
};

// Layout: for each pseudo-layer its input matrices, its recurrent ones, its projection; then for
// each pseudo-layer its biases. (A pseudo-layer is one direction of a layer.) The matrices that a
// caller treats as one, those of all gates, follow each other, as cudnn_adv.h's users rely on.
std::uint64_t RnnWeights(const RnnShape& shape);
// linear counts the gates' input matrices, then the recurrent ones, then the projection.
RnnParameter RnnMatrix(const RnnShape& shape, int pseudo_layer, int linear);
RnnParameter RnnBias(const RnnShape& shape, int pseudo_layer, int linear);

// Bytes that the forward pass keeps for the backward pass: per step, sequence, layer and direction
// the value of each gate (of a GRU twice: its recurrent products too) and the cell of an LSTM, with
// a projection the output before and after it; between layers, what goes into the next one, and
// with dropout a bit for each of it; 256 besides. As an H200 answers
// (tests/gpu/recordings/h200/sizes_recurrent.jsonl: all 56 are met).
std::uint64_t RnnReserve(const RnnShape& shape, std::uint64_t steps, std::uint64_t batch,
                         std::uint64_t element_bytes);
// Bytes for the products of the widest layer's input with its matrices, all steps at once, for the
// weights in another order, and 8 MiB: up to a fourth below what an H200 answers in fp32, up to a
// half below in fp16 (the same recording).
std::uint64_t RnnWorkspace(const RnnShape& shape, std::uint64_t steps, std::uint64_t batch,
                           std::uint64_t element_bytes);

// Bytes of the random generators' states: one of 24 bytes for each thread that the card can keep
// resident (an H200: 6,488,064).
std::uint64_t DropoutStates(int multiprocessors, int threads_per_multiprocessor);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_SIZES_H_
