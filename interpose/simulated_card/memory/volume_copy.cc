// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/volume_copy.h"

namespace memtrace::card {
namespace {

// Far larger than any card. The product of three stays below 2^64 only if each factor is checked.
constexpr std::uint64_t kLargest = 1ull << 47;

bool IsWithin(std::uint64_t offset, std::uint64_t part, std::uint64_t whole) {
  return offset <= whole && part <= whole - offset;
}

// Returns a x b, or a number above kLargest if the product is.
std::uint64_t Product(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kLargest / b ? kLargest + 1 : a * b;
}

Result CompleteSide(const VolumeCopy& copy, VolumeSide* side) {
  for (const std::uint64_t part :
       {side->x, side->y, side->z, copy.width, copy.height, copy.depth}) {
    if (part > kLargest) return Result::kInvalidValue;
  }
  if (side->pitch == 0) side->pitch = side->x + copy.width;
  if (side->height == 0) side->height = side->y + copy.height;
  if (!IsWithin(side->x, copy.width, side->pitch) || !IsWithin(side->y, copy.height, side->height))
    return Result::kInvalidValue;
  const std::uint64_t slices = Product(Product(side->pitch, side->height), side->z + copy.depth);
  return slices > kLargest ? Result::kInvalidValue : Result::kSuccess;
}

}  // namespace

Result Complete(VolumeCopy* copy) {
  const Result to = CompleteSide(*copy, &copy->to);
  return to == Result::kSuccess ? CompleteSide(*copy, &copy->from) : to;
}

Address RowOf(const VolumeSide& side, std::uint64_t row, std::uint64_t slice) {
  return side.base + ((side.z + slice) * side.height + side.y + row) * side.pitch + side.x;
}

}  // namespace memtrace::card
