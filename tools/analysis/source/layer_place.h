// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_LAYER_PLACE_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_LAYER_PLACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memtrace::analysis {

// The place of a module or parameter among layers that differ only in their number.
struct LayerPlace {
  std::string name;    // "model.layers.*"
  uint64_t layer = 0;  // 17
};

// Finds the layer by the first part of the path that is a number; nothing if there is none.
std::optional<LayerPlace> LayerPlaceOf(std::string_view path);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_LAYER_PLACE_H_
