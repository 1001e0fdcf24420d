// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/snapshot_frame.h"

namespace memtrace::interchange {

bool IsPythonFile(std::string_view file) { return file.ends_with(".py") || file.starts_with('<'); }

bool IsOwnFile(std::string_view file) {
  return file.find("-packages/memtrace/") != std::string_view::npos;
}

SnapshotFrame ReadSnapshotFrame(const PickleTree& tree, PickleValue frame) {
  SnapshotFrame read;
  tree.ForEachPair(frame, [&](std::string_view key, PickleValue of) {
    if (key == "filename") read.file = tree.Text(of).value_or("");
    if (key == "name") read.function = tree.Text(of).value_or("");
    if (key == "line") read.line = static_cast<uint32_t>(tree.Int(of).value_or(0));
  });
  return read;
}

}  // namespace memtrace::interchange
