// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_WRITTEN_TRACES_H_
#define MEMTRACE_TOOLS_LAUNCH_WRITTEN_TRACES_H_

#include <map>
#include <string>
#include <vector>

namespace memtrace::launch {

// Finds the trace files that a run left behind, by looking before and after. A trace is named by
// the process that makes it, so only the folder can tell: `output` and its siblings `output.<pid>`,
// or memtrace-*.trace in the current folder if `output` is empty.
class WrittenTraces {
 public:
  explicit WrittenTraces(std::string output);

  // Returns files that are new or changed since the constructor, `output` itself first.
  std::vector<std::string> Find() const;

 private:
  using Listing = std::map<std::string, std::string>;  // path -> inode, size and time

  Listing List() const;
  bool IsTraceName(const std::string& name) const;

  std::string output_;
  Listing before_;
};

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_WRITTEN_TRACES_H_
