// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_STRUCT_SIZES_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_STRUCT_SIZES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace memtrace {

// Structs of the C ABI begin with `size`, the caller's sizeof, and only grow at the end. A caller
// built against an older memtrace.h has a shorter struct, one built against a newer a longer one;
// in both cases only the common part is read or written, and `size` stays unchanged.
template <typename Struct>
bool HasSize(const Struct* of_caller) {
  static_assert(std::is_trivially_copyable_v<Struct> && offsetof(Struct, size) == 0);
  return of_caller != nullptr && of_caller->size > sizeof(of_caller->size);
}

// Returns the caller's struct; fields that it does not have are zero. REQUIRES: HasSize(of_caller).
template <typename Struct>
Struct ReadCommonPart(const Struct* of_caller) {
  Struct read{};
  std::memcpy(&read, of_caller, std::min<size_t>(of_caller->size, sizeof(read)));
  return read;
}

// REQUIRES: HasSize(of_caller).
template <typename Struct>
void WriteCommonPart(Struct* of_caller, const Struct& ours) {
  const size_t header = sizeof(ours.size);
  const size_t known = std::min<size_t>(of_caller->size, sizeof(ours));
  std::memcpy(reinterpret_cast<char*>(of_caller) + header,
              reinterpret_cast<const char*>(&ours) + header, known - header);
}

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_STRUCT_SIZES_H_
