// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUNZIP_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUNZIP_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace memtrace::interchange {

// True if the bytes begin like a gzip file.
bool IsGzip(std::string_view bytes);

struct Unpacked {
  std::string bytes;
  bool is_cut = false;  // the file is cut short: `bytes` is what could be unpacked
};

// Returns the contents of a gzip file, or of several such files one behind the other. Returns
// kInvalidArgument, with a clause, if nothing can be unpacked, or if it would be more than `most`
// bytes.
absl::StatusOr<Unpacked> Gunzip(std::string_view packed, uint64_t most);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_GUNZIP_H_
