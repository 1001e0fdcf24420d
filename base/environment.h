// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BASE_ENVIRONMENT_H_
#define MEMTRACE_BASE_ENVIRONMENT_H_

#include <cstdlib>
#include <string_view>

// The only reader of this process's environment by name. environment.def lists the variables. What
// a program that is started gets as its own is in tools/launch.
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

// nullptr if it is not set. As getenv's, the text is good until somebody changes the environment.
inline const char* Pointer(Variable variable) { return std::getenv(variable.name()); }

// "" if it is not set.
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
