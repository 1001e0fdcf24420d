// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_STORAGE_PLACES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_STORAGE_PLACES_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace memtrace::analysis {

using StoragePlace = std::pair<int32_t, uint64_t>;  // card, address

// Parses the storages that the hooks write: "0:7f0000000000 1:7f8000000000", hexadecimal. Other
// words are left out.
std::vector<StoragePlace> ParseStoragePlaces(std::string_view text);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_STORAGE_PLACES_H_
