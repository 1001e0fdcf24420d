// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/operations/shape_operators.h"

#include <algorithm>

namespace memtrace::shim {

bool IsView(const c10::FunctionSchema& schema) {
  const auto& results = schema.returns();
  return !schema.is_mutable() &&
         std::any_of(results.begin(), results.end(),
                     [](const c10::Argument& result) { return result.alias_info() != nullptr; });
}

bool UsesOnlyShapes(std::string_view name) {
  const size_t colons = name.find("::");
  if (colons != std::string_view::npos) name.remove_prefix(colons + 2);
  constexpr std::string_view kLike = "_like";
  const bool is_like =
      name.size() > kLike.size() && name.substr(name.size() - kLike.size()) == kLike;
  return is_like || name.substr(0, 4) == "new_" || name.substr(0, 5) == "empty" ||
         name == "detach" || name == "detach_" || name == "record_stream";
}

}  // namespace memtrace::shim
