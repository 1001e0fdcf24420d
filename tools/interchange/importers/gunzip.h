// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUNZIP_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUNZIP_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace memtrace::interchange {

// True if the bytes begin as a gzip file does.
bool IsGzip(std::string_view bytes);

struct Unpacked {
  std::string bytes;
  bool is_cut = false;  // the file ends before its end: `bytes` is what could be unpacked
};

// Returns what a gzip file holds; it may be several such files one behind the other.
// kInvalidArgument, a clause: nothing of it can be unpacked, or it would be more than `most` bytes.
absl::StatusOr<Unpacked> Gunzip(std::string_view packed, uint64_t most);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUNZIP_H_
