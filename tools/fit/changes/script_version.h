// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHANGES_SCRIPT_VERSION_H_
#define MEMTRACE_TOOLS_FIT_CHANGES_SCRIPT_VERSION_H_

#include <string>
#include <string_view>

namespace memtrace::fit {

// Returns the SHA-256 of the text as 64 hexadecimal digits (FIPS 180-4).
std::string Sha256(std::string_view text);

// Returns the version of a script as traces state it in `script_version`: the first 16 digits of
// the SHA-256 of its first 4 MiB. Returns "" if the file cannot be read.
std::string ScriptVersion(const std::string& file);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHANGES_SCRIPT_VERSION_H_
