// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_FRAME_H_
#define MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_FRAME_H_

#include <cstdint>
#include <string_view>

#include "tools/interchange/pickle_tree.h"

namespace memtrace::interchange {

// True for a file of Python. Snapshots also have frames of C++, whose file is "??" or a source of
// C++.
bool IsPythonFile(std::string_view file);

// True if the file is one of memtrace's own hooks, which torch's history contains if both recorded.
bool IsOwnFile(std::string_view file);

// A frame of a snapshot; its texts are views of the pickle.
struct SnapshotFrame {
  std::string_view file;
  std::string_view function;
  uint32_t line = 0;
};

SnapshotFrame ReadSnapshotFrame(const PickleTree& tree, PickleValue frame);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_FRAME_H_
