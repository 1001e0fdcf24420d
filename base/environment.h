// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_ENVIRONMENT_H_
#define MEMTRACE_BASE_ENVIRONMENT_H_

#include <cstdlib>
#include <string_view>

// The only code that reads this process's environment by name. environment.def lists the variables.
// tools/launch makes the environment of started programs.
namespace memtrace::env {

class Variable {
 public:
  constexpr explicit Variable(const char* name) : name_(name) {}

  constexpr const char* name() const { return name_; }

 private:
  const char* name_;
};

#define MEMTRACE_VARIABLE(id, name, meaning) inline constexpr Variable k##id(name);
#include "base/environment.def"
#undef MEMTRACE_VARIABLE

// Returns nullptr if it is not set. As with getenv, the text is valid until the environment
// changes.
inline const char* Pointer(Variable variable) { return std::getenv(variable.name()); }

// Returns "" if it is not set.
inline std::string_view Text(Variable variable) {
  const char* text = Pointer(variable);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

inline bool Is(Variable variable, std::string_view value) {
  const char* text = Pointer(variable);
  return text != nullptr && text == value;
}

}  // namespace memtrace::env

#endif  // MEMTRACE_BASE_ENVIRONMENT_H_
