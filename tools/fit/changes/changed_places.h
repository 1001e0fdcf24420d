// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHANGES_CHANGED_PLACES_H_
#define MEMTRACE_TOOLS_FIT_CHANGES_CHANGED_PLACES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/analysis/source/annotation.h"

namespace memtrace::fit {

// The places where a hook changed the program, out of those where it could: 9 of 32 layers.
struct ChangedPlaces {
  uint64_t places = 0;
  uint64_t of = 0;
  std::string target;  // the class of the first place: "MistralDecoderLayer"
  std::string first;   // a path in the model, "model.layers.0", or a line, "train.py:41"
};

// Returns what a run's trace says of a hook of MEMTRACE_FIT_CHANGES; nothing if the run did not
// have it. Reads older traces also, which only have a number.
std::optional<ChangedPlaces> ChangedPlacesOf(const analysis::Annotations& annotations,
                                             std::string_view hook);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHANGES_CHANGED_PLACES_H_
