// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/launch_memory.h"

#include <algorithm>
#include <array>

namespace memtrace::card {
namespace {

bool IsEmpty(const memtrace_card_operand& operand) {
  return operand.begin == nullptr || operand.column_bytes == 0 || operand.columns == 0 ||
         operand.matrices == 0;
}

Address BeginOf(const memtrace_card_operand& operand) {
  return Address{reinterpret_cast<std::uintptr_t>(operand.begin)};
}

// Returns the bytes from the operand's first to its last, with the gaps between columns and
// matrices. REQUIRES: it is not empty.
std::uint64_t Extension(const memtrace_card_operand& operand) {
  return (operand.matrices - 1) * operand.matrix_stride +
         (operand.columns - 1) * operand.column_stride + operand.column_bytes;
}

// Returns the operand's own bytes; matrices at the same place count once.
std::uint64_t OwnBytes(const memtrace_card_operand& operand) {
  const std::uint64_t matrices = operand.matrix_stride == 0 ? 1 : operand.matrices;
  return std::min(operand.column_bytes * operand.columns * matrices, Extension(operand));
}

// Returns the sentence about the owner that `namer` knows; empty if it knows none.
std::string OwnerText(LaunchMemory::OwnerNamer namer, Address address) {
  std::array<char, 256> name{};
  if (namer == nullptr || namer(address.value(), name.data(), name.size()) == 0) return "";
  const std::string owner = "'" + std::string(name.data()) + "'";
  return ". It is memory of " + owner + ", which is asleep: call memtrace.wake(" + owner +
         ") first";
}

const char* GraphText(bool is_in_graph) { return is_in_graph ? " in a graph" : ""; }

}  // namespace

void LaunchMemory::Launched(const char* name, const GivenMemory& given, bool is_in_graph) {
  if (space_.hollows().AreAny()) {
    CheckPointers(name, given, is_in_graph);
    CheckOperands(name, given, is_in_graph);
  }
  if (!physical_.HasHostLocated()) return;
  for (const memtrace_card_operand& operand : given.operands)
    operand_bytes_on_host_ += BytesOnHost(operand);
}

// A kernel need not use all that it is given, so the sentence says what it would take.
void LaunchMemory::CheckPointers(const char* name, const GivenMemory& given, bool is_in_graph) {
  const auto is_missing = [this](Address pointer) {
    return space_.hollows().FirstIn(pointer, 1).has_value() && !space_.Find(pointer - 1);
  };
  const auto missing = std::find_if(given.pointers.begin(), given.pointers.end(), is_missing);
  if (missing == given.pointers.end()) return;
  faults_.Count("the kernel " + std::string(name) + GraphText(is_in_graph) +
                " was launched with the address " + missing->ToString() +
                ", whose memory was taken away by cuMemUnmap; on a GPU the context ends if the "
                "kernel reads or writes there" +
                OwnerText(owner_namer, *missing));
}

void LaunchMemory::CheckOperands(const char* name, const GivenMemory& given, bool is_in_graph) {
  for (const memtrace_card_operand& operand : given.operands) {
    if (IsEmpty(operand)) continue;
    const std::optional<Address> missing =
        space_.hollows().FirstIn(BeginOf(operand), Extension(operand));
    if (!missing) continue;
    faults_.Count(std::string(name) + GraphText(is_in_graph) + " uses memory at " +
                  missing->ToString() +
                  ", which was taken away by cuMemUnmap; on a GPU the context ends" +
                  OwnerText(owner_namer, *missing));
    return;
  }
}

// Gaps count as evenly spread: of an operand that lies on the host in part, as large a part is
// counted as the host has of its extension.
std::uint64_t LaunchMemory::BytesOnHost(const memtrace_card_operand& operand) const {
  if (IsEmpty(operand) || !AddressRanges::Contains(BeginOf(operand))) return 0;
  const Address begin = BeginOf(operand);
  const Address end = begin + Extension(operand);
  std::uint64_t on_host = 0;
  for (const MappedRange& mapping : space_.MappingsIn(begin, end - begin)) {
    if (mapping.kind != ChargeKind::kHost) continue;
    on_host += std::min(end, mapping.begin + mapping.bytes) - std::max(begin, mapping.begin);
  }
  const std::uint64_t own = OwnBytes(operand);
  if (own == end - begin) return on_host;
  return static_cast<std::uint64_t>(static_cast<double>(own) * static_cast<double>(on_host) /
                                    static_cast<double>(end - begin));
}

}  // namespace memtrace::card
