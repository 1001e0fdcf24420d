// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_LAYER_CONTENTS_H_
#define MEMTRACE_TOOLS_FIT_FILES_LAYER_CONTENTS_H_

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace memtrace::fit {

// The changes that a run left in its layer.
struct LayerContents {
  std::set<std::string> names;  // files that it wrote, moved or deleted, as the run named them
  uint64_t bytes = 0;           // the size of the layer
  bool is_full = false;         // nothing more could be written at its end
};

// Reads the memory of a layer through the open folder (LayeredRoot::memory). Ignores Python's
// compiled files and empty folders.
LayerContents ReadLayer(int memory);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_LAYER_CONTENTS_H_
