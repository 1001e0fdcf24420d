// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/kernel_arguments.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace memtrace::card {
namespace {

// The keys of cuLaunchKernel's `extra`, as cuda.h numbers them.
constexpr std::uintptr_t kEnd = 0;
constexpr std::uintptr_t kBufferPointer = 1;
constexpr std::uintptr_t kBufferSize = 2;

// Addresses are aligned within their container, because the kernel's compiler requires it.
void AddAddresses(const void* begin, std::size_t bytes, std::vector<Address>& addresses) {
  const auto* at = static_cast<const char*>(begin);
  for (std::size_t offset = 0; offset + sizeof(Address) <= bytes; offset += sizeof(Address)) {
    Address value;
    std::memcpy(&value, at + offset, sizeof(value));
    if (AddressRanges::Contains(value)) addresses.push_back(value);
  }
}

std::optional<std::vector<Address>> InBuffer(void* const* extra) {
  const void* buffer = nullptr;
  const std::size_t* bytes = nullptr;
  for (; reinterpret_cast<std::uintptr_t>(*extra) != kEnd; extra += 2) {
    const auto key = reinterpret_cast<std::uintptr_t>(*extra);
    if (key == kBufferPointer) buffer = extra[1];
    if (key == kBufferSize) bytes = static_cast<const std::size_t*>(extra[1]);
    if (key > kBufferSize) return std::nullopt;
  }
  if (buffer == nullptr || bytes == nullptr) return std::nullopt;
  std::vector<Address> addresses;
  AddAddresses(buffer, *bytes, addresses);
  return addresses;
}

}  // namespace

std::optional<std::vector<Address>> AddressesAmong(
    const std::optional<std::vector<CodeImage::Parameter>>& parameters, void* const* arguments,
    void* const* extra) {
  if (arguments == nullptr && extra != nullptr) return InBuffer(extra);
  if (!parameters) return std::nullopt;
  std::vector<Address> addresses;
  if (arguments == nullptr) return addresses;
  for (std::size_t i = 0; i < parameters->size(); ++i)
    AddAddresses(arguments[i], (*parameters)[i].bytes, addresses);
  return addresses;
}

}  // namespace memtrace::card
