// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/annotation.h"

#include <charconv>
#include <system_error>

namespace memtrace::analysis {

std::string AnnotatedText(const Annotations& annotations, std::string_view key) {
  const auto found = annotations.find(key);
  return found == annotations.end() ? std::string() : found->second;
}

std::optional<uint64_t> AnnotatedNumber(const Annotations& annotations, std::string_view key) {
  const auto found = annotations.find(key);
  if (found == annotations.end()) return std::nullopt;
  const std::string& text = found->second;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<NumberedAnnotation> AnnotatedAll(const Annotations& annotations,
                                             const fact::NumberedKey& key) {
  const std::string_view prefix = key.prefix();
  std::vector<NumberedAnnotation> all;
  for (auto entry = annotations.lower_bound(prefix);
       entry != annotations.end() && entry->first.starts_with(prefix); ++entry)
    all.push_back(
        {.number = std::string_view(entry->first).substr(prefix.size()), .value = entry->second});
  return all;
}

bool HasEnded(const Annotations& annotations) {
  return !AnnotatedText(annotations, fact::kProgramException).empty();
}

std::string ExceptionThatEnded(const Annotations& annotations) {
  const std::string name = AnnotatedText(annotations, fact::kProgramException);
  return name == "none" ? "" : name;
}

}  // namespace memtrace::analysis
