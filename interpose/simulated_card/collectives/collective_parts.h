// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COLLECTIVE_PARTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COLLECTIVE_PARTS_H_

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::card {

// What one rank hands over in a collective, or takes from it.
struct Part {
  // How much a rank hands over with its contents; what is larger is unknown to the others.
  static constexpr std::uint64_t kMostBytes = 1u << 20;

  std::string call;        // what all ranks must have called:
  std::uint64_t size = 0;  // with that many bytes
  bool held = false;       // bytes are the contents
  std::string bytes;
  std::string known;  // of each byte: a memtrace_card_known
};
using Parts = std::vector<Part>;  // by rank

std::string Encode(const Part& part);
// An empty part for what Encode did not write.
Part Decode(std::string_view text);

// 0 for a type that NCCL does not have.
std::size_t SizeOf(ncclDataType_t type);

// All of these give a part that is not held if one that they need is not, or if the arithmetic is
// not ours to do (eight-bit floats, operations that a program made). What is known of a byte is the
// least that is known of the bytes it comes from.
//
// Element by element over all ranks, as nccl.h says of each operation; half precision is summed in
// single precision and rounded once.
Part Reduce(const Parts& parts, ncclDataType_t type, ncclRedOp_t operation);
// One after the other, by rank.
Part Join(const Parts& parts);
// The number-th of `count` pieces of equal size.
Part Piece(const Part& part, std::size_t number, std::size_t count);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COLLECTIVE_PARTS_H_
