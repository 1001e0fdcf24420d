// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/collective_parts.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace memtrace::card {
namespace {

struct Head {
  std::uint64_t size;
  std::uint64_t held;
  std::uint64_t call_bytes;
  std::uint64_t bytes;
};

// The type in which values are added up.
template <typename Value>
using Sum = std::conditional_t<std::is_arithmetic_v<Value>, Value, float>;

template <typename Value>
Sum<Value> Combine(ncclRedOp_t operation, Sum<Value> a, Sum<Value> b) {
  switch (operation) {
    case ncclProd:
      return static_cast<Sum<Value>>(a * b);
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
    default:
      return static_cast<Sum<Value>>(a + b);
  }
}

template <typename Value>
Value ElementAt(const Part& part, std::size_t element) {
  Value value;
  std::memcpy(&value, part.bytes.data() + element * sizeof(Value), sizeof(Value));
  return value;
}

template <typename Value>
std::string ReduceAs(const Parts& parts, ncclRedOp_t operation) {
  std::string result(parts.front().bytes.size(), '\0');
  for (std::size_t i = 0; i < result.size() / sizeof(Value); ++i) {
    auto sum = static_cast<Sum<Value>>(ElementAt<Value>(parts.front(), i));
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      const auto next = static_cast<Sum<Value>>(ElementAt<Value>(parts[rank], i));
      sum = Combine<Value>(operation, sum, next);
    }
    if (operation == ncclAvg)
      sum = static_cast<Sum<Value>>(sum / static_cast<Sum<Value>>(parts.size()));
    const auto value = static_cast<Value>(sum);
    std::memcpy(result.data() + i * sizeof(Value), &value, sizeof(Value));
  }
  return result;
}

std::string ReduceBytes(const Parts& parts, ncclDataType_t type, ncclRedOp_t operation) {
  switch (type) {
    case ncclInt8:
      return ReduceAs<std::int8_t>(parts, operation);
    case ncclUint8:
      return ReduceAs<std::uint8_t>(parts, operation);
    case ncclInt32:
      return ReduceAs<std::int32_t>(parts, operation);
    case ncclUint32:
      return ReduceAs<std::uint32_t>(parts, operation);
    case ncclInt64:
      return ReduceAs<std::int64_t>(parts, operation);
    case ncclUint64:
      return ReduceAs<std::uint64_t>(parts, operation);
    case ncclFloat16:
      return ReduceAs<__half>(parts, operation);
    case ncclBfloat16:
      return ReduceAs<__nv_bfloat16>(parts, operation);
    case ncclFloat32:
      return ReduceAs<float>(parts, operation);
    case ncclFloat64:
      return ReduceAs<double>(parts, operation);
    default:
      return {};
  }
}

// True if all parts are of one size and have their contents.
bool HaveContents(const Parts& parts) {
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.held && part.bytes.size() == parts.front().bytes.size();
  });
}

// Returns, for each element of `width` bytes, the least knowledge of any of its bytes in any rank.
std::string LeastKnown(const Parts& parts, std::size_t width) {
  std::string least = parts.front().known;
  for (const Part& part : parts) {
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], part.known[i]);
  }
  for (std::size_t begin = 0; begin < least.size(); begin += width) {
    const auto element = least.begin() + static_cast<std::ptrdiff_t>(begin);
    std::fill_n(element, width,
                *std::min_element(element, element + static_cast<std::ptrdiff_t>(width)));
  }
  return least;
}

}  // namespace

std::string Encode(const Part& part) {
  const Head head = {.size = part.size,
                     .held = part.held ? 1u : 0u,
                     .call_bytes = part.call.size(),
                     .bytes = part.bytes.size()};
  std::string text(reinterpret_cast<const char*>(&head), sizeof(head));
  return text + part.call + part.bytes + part.known;
}

Part Decode(std::string_view text) {
  Head head = {};
  if (text.size() < sizeof(head)) return {};
  std::memcpy(&head, text.data(), sizeof(head));
  text.remove_prefix(sizeof(head));
  if (text.size() != head.call_bytes + 2 * head.bytes) return {};
  return {.call = std::string(text.substr(0, head.call_bytes)),
          .size = head.size,
          .held = head.held != 0,
          .bytes = std::string(text.substr(head.call_bytes, head.bytes)),
          .known = std::string(text.substr(head.call_bytes + head.bytes))};
}

std::size_t SizeOf(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}

Part Reduce(const Parts& parts, ncclDataType_t type, ncclRedOp_t operation) {
  Part result;
  if (!HaveContents(parts) || operation >= ncclNumOps) return result;
  result.bytes = ReduceBytes(parts, type, operation);
  result.held = result.bytes.size() == parts.front().bytes.size();
  if (result.held) result.known = LeastKnown(parts, SizeOf(type));
  return result;
}

Part Join(const Parts& parts) {
  Part result;
  result.held = HaveContents(parts);
  for (const Part& part : parts) {
    result.bytes += part.bytes;
    result.known += part.known;
  }
  return result;
}

Part Piece(const Part& part, std::size_t number, std::size_t count) {
  Part piece = part;
  const std::size_t bytes = part.bytes.size() / count;
  piece.bytes = part.bytes.substr(number * bytes, bytes);
  piece.known = part.known.substr(number * bytes, bytes);
  return piece;
}

}  // namespace memtrace::card
