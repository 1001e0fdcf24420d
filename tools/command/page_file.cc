// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/page_file.h"

#include "tools/command/output_file.h"
#include "tools/command/program.h"

namespace memtrace::command {

absl::Status WritePageFile(const std::string& path, const std::string& html) {
  const absl::Status written = OutputFile(path).KeepText(html);
  if (written.ok()) Note("wrote " + path + "; open it with a browser");
  return written;
}

}  // namespace memtrace::command
