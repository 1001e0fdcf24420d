// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_ANNOTATION_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_ANNOTATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {

namespace fact = trace::fact;

using Annotations = std::map<std::string, std::string, std::less<>>;  // latest value of each key

// Returns an empty text if the key is not there.
std::string AnnotatedText(const Annotations& annotations, std::string_view key);

// Returns nothing if the key is not there or its value is not a decimal number.
std::optional<uint64_t> AnnotatedNumber(const Annotations& annotations, std::string_view key);

// A fact that may be there several times: what stands for "N" in "snapshot.N", and the value.
struct NumberedAnnotation {
  std::string_view number;
  std::string_view value;
};

// Returns all facts of that key, in the order of the text for "N". Views of `annotations`.
std::vector<NumberedAnnotation> AnnotatedAll(const Annotations& annotations,
                                             const fact::NumberedKey& key);

// True if the program is known to have ended, with or without an exception.
bool HasEnded(const Annotations& annotations);

// Returns the class of the exception that ended the program; empty if none did or if the hooks,
// which state it in `program.exception`, do not know.
std::string ExceptionThatEnded(const Annotations& annotations);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_ANNOTATION_H_
