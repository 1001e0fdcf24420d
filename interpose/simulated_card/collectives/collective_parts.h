// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COLLECTIVE_PARTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COLLECTIVE_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/simulated_card/collectives/nccl_header.h"

namespace memtrace::card {

// The bytes that one rank contributes to a collective, or receives from it.
struct Part {
  // The most bytes that a rank passes on with their contents; larger data is unknown to the others.
  static constexpr std::uint64_t kMostBytes = 1u << 20;

  std::string call;        // the call that all ranks must have made
  std::uint64_t size = 0;  // the bytes that all ranks must have passed
  bool held = false;       // true if `bytes` are the contents
  std::string bytes;
  std::string known;  // one memtrace_card_known for each byte
};
using Parts = std::vector<Part>;  // by rank

std::string Encode(const Part& part);
// Returns an empty part if Encode did not write `text`.
Part Decode(std::string_view text);

// Returns 0 for a type that NCCL does not have.
std::size_t SizeOf(ncclDataType_t type);

// The functions below return a part that is not held if one that they need is not, or if its
// arithmetic is not implemented (eight-bit floats, operations made by a program). A byte's
// knowledge is the least of the bytes that it is computed from.
//
// Reduce works element by element over all ranks, as nccl.h defines each operation; half precision
// is summed in single precision and rounded once.
Part Reduce(const Parts& parts, ncclDataType_t type, ncclRedOp_t operation);
// Concatenates the parts by rank.
Part Join(const Parts& parts);
// Returns the piece at index `number` of `count` pieces of equal size.
Part Piece(const Part& part, std::size_t number, std::size_t count);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COLLECTIVE_PARTS_H_
