// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_KNOWN_BYTES_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_KNOWN_BYTES_H_

#include <string>

#include "nlohmann/json.hpp"
#include "tools/analysis/source/evidence.h"

namespace memtrace::report {

// Returns the mark of a row whose role is not stated for all bytes: "~" if some are guessed, "*" if
// some are inferred.
std::string EvidenceMarks(const analysis::KnownBytes& known);

// Adds stated_bytes, inferred_bytes and guessed_bytes.
void AddKnownBytes(const analysis::KnownBytes& known, nlohmann::ordered_json& row);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_KNOWN_BYTES_H_
