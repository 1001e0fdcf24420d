// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_VOCABULARY_FACTS_H_
#define MEMTRACE_PROFILER_TRACE_VOCABULARY_FACTS_H_

#include <concepts>
#include <string>
#include <string_view>

// The keys of annotations, as facts.def lists them.
namespace memtrace::trace::fact {

// The key of a fact about several things: "optimizer.trained_bytes.0" is about card 0.
class NumberedKey {
 public:
  // `prefix` must be a literal that ends with a dot.
  constexpr explicit NumberedKey(std::string_view prefix) : prefix_(prefix) {}

  constexpr std::string_view prefix() const { return prefix_; }
  std::string Of(std::string_view name) const { return std::string(prefix_).append(name); }
  template <std::integral Number>
  std::string Of(Number number) const {
    return Of(std::to_string(number));
  }

 private:
  std::string_view prefix_;
};

// Each key is a literal, so that data() is zero-terminated.
#define MEMTRACE_FACT(name, key, meaning) inline constexpr std::string_view k##name = key;
#define MEMTRACE_NUMBERED_FACT(name, key, number, meaning) \
  inline constexpr NumberedKey k##name(key ".");
#include "profiler/trace/vocabulary/facts.def"
#undef MEMTRACE_NUMBERED_FACT
#undef MEMTRACE_FACT

}  // namespace memtrace::trace::fact

#endif  // MEMTRACE_PROFILER_TRACE_VOCABULARY_FACTS_H_
