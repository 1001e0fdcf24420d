// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_JSON_TEXT_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_JSON_TEXT_H_

#include <string>

#include "nlohmann/json.hpp"
#include "profiler/trace/reading/trace_reader.h"

namespace memtrace::report {

// Returns indented JSON with a line end; bytes that are not UTF-8 become U+FFFD.
std::string JsonText(const nlohmann::ordered_json& json);

nlohmann::ordered_json LostJson(const trace::Completeness& completeness);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_JSON_TEXT_H_
