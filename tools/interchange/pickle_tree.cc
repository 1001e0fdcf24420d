// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/pickle_tree.h"

namespace memtrace::interchange {
namespace {

// Numbers that fit are kept in the value itself, with their sign in the lowest bit.
constexpr int64_t kLargest = int64_t{1} << 59;

uint64_t Folded(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
int64_t Unfolded(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

}  // namespace

std::optional<int64_t> PickleTree::Int(PickleValue value) const {
  switch (value.kind()) {
    case Kind::kBool:
    case Kind::kInt:
      return Unfolded(value.payload());
    case Kind::kWideInt:
      return wide_[value.payload()];
    default:
      return std::nullopt;
  }
}

std::optional<double> PickleTree::Float(PickleValue value) const {
  if (value.kind() == Kind::kFloat) return floats_[value.payload()];
  if (const auto whole = Int(value)) return static_cast<double>(*whole);
  return std::nullopt;
}

std::optional<std::string_view> PickleTree::Text(PickleValue value) const {
  if (value.kind() != Kind::kText) return std::nullopt;
  return texts_[value.payload()];
}

size_t PickleTree::Size(PickleValue value) const {
  if (!value.is_sequence() && !value.is_dict()) return 0;
  const size_t items = containers_.Items(value);
  return value.is_dict() ? items / 2 : items;
}

PickleValue PickleTree::Find(PickleValue dict, std::string_view key) const {
  PickleValue found;
  ForEachPair(dict, [&](std::string_view name, PickleValue value) {
    if (name == key) found = value;
  });
  return found;
}

PickleValue PickleTree::NewInt(int64_t value) {
  if (value < kLargest && value >= -kLargest) return {Kind::kInt, Folded(value)};
  bytes_ += sizeof(value);
  wide_.push_back(value);
  return {Kind::kWideInt, wide_.size() - 1};
}

PickleValue PickleTree::NewFloat(double value) {
  bytes_ += sizeof(value);
  floats_.push_back(value);
  return {Kind::kFloat, floats_.size() - 1};
}

PickleValue PickleTree::NewText(std::string_view text) {
  bytes_ += sizeof(std::string_view);
  texts_.push_back(text);
  return {Kind::kText, texts_.size() - 1};
}

}  // namespace memtrace::interchange
