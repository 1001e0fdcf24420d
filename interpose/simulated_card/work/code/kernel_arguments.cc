// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/code/kernel_arguments.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

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

// Adds the addresses in a parameter that has nothing but addresses and nulls.
void AddPointers(std::span<const char> parameter, std::vector<Address>& pointers) {
  if (parameter.size() % sizeof(Address) != 0) return;
  std::vector<Address> found(parameter.size() / sizeof(Address));
  std::memcpy(found.data(), parameter.data(), parameter.size());
  std::erase(found, Address());
  if (std::all_of(found.begin(), found.end(), AddressRanges::Contains))
    pointers.insert(pointers.end(), found.begin(), found.end());
}

// Returns the bytes of all parameters; nothing if `extra` has them in another form.
std::optional<std::span<const char>> BufferOf(void* const* extra) {
  const void* buffer = nullptr;
  const std::size_t* bytes = nullptr;
  for (; reinterpret_cast<std::uintptr_t>(*extra) != kEnd; extra += 2) {
    const auto key = reinterpret_cast<std::uintptr_t>(*extra);
    if (key == kBufferPointer) buffer = extra[1];
    if (key == kBufferSize) bytes = static_cast<const std::size_t*>(extra[1]);
    if (key > kBufferSize) return std::nullopt;
  }
  if (buffer == nullptr || bytes == nullptr) return std::nullopt;
  return std::span(static_cast<const char*>(buffer), *bytes);
}

std::optional<std::vector<Address>> InBuffer(void* const* extra) {
  const std::optional<std::span<const char>> buffer = BufferOf(extra);
  if (!buffer) return std::nullopt;
  std::vector<Address> addresses;
  AddAddresses(buffer->data(), buffer->size(), addresses);
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

std::vector<Address> PointersAmong(
    const std::optional<std::vector<CodeImage::Parameter>>& parameters, void* const* arguments,
    void* const* extra) {
  std::vector<Address> pointers;
  if (!parameters || (arguments == nullptr && extra == nullptr)) return pointers;
  const auto buffer = arguments == nullptr ? BufferOf(extra) : std::nullopt;
  for (std::size_t i = 0; i < parameters->size(); ++i) {
    const auto [offset, bytes] = (*parameters)[i];
    if (arguments != nullptr) {
      AddPointers({static_cast<const char*>(arguments[i]), bytes}, pointers);
    } else if (buffer && std::uint64_t{offset} + bytes <= buffer->size()) {
      AddPointers(buffer->subspan(offset, bytes), pointers);
    }
  }
  return pointers;
}

}  // namespace memtrace::card
