// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_IMPORTED_RUN_H_
#define MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_IMPORTED_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/trace/coding/call_tree.h"
#include "profiler/trace/coding/string_table.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::interchange {

// A recording of another tool, as events.
class ImportedRun : public analysis::EventSource {
 public:
  // Facts of the process, by the keys of profiler/trace/format.md.
  virtual std::map<std::string, std::string> Info() const = 0;

  // Says why only a part could be read, with the place where it ends ("line 12"); empty if all was
  // read.
  const std::string& fault() const { return fault_; }
  // Facts that the file does not state, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

 protected:
  std::string fault_;
  std::vector<std::string> notes_;
};

// The names of an imported run.
class ImportedNames {
 public:
  trace::StringId String(std::string_view text) { return strings_.Intern(text).id; }
  trace::StackId Stack(trace::StackId parent, std::string_view function, std::string_view file,
                       uint32_t line) {
    const trace::FrameNames frame{.file = String(file), .function = String(function), .line = line};
    return stacks_.InternStack(parent, stacks_.InternFrame(frame).id).id;
  }

  std::string_view Text(trace::StringId id) const { return strings_.Text(id); }
  std::vector<trace::Frame> Frames(trace::StackId id) const;  // innermost first

 private:
  trace::StringTable strings_;
  trace::CallTree stacks_;
};

// A kind of file that can be imported.
struct ImportFormat {
  std::string_view name;  // "an RMM log"
  bool (*recognises)(std::string_view beginning);
  // `bytes` outlive the run. Returns kInvalidArgument, which says why and where, if nothing can be
  // read.
  absl::StatusOr<std::unique_ptr<ImportedRun>> (*open)(std::string_view bytes);
};

const std::vector<ImportFormat>& ImportFormats();

// Returns null if it is none of them.
const ImportFormat* RecogniseFormat(std::string_view beginning);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_IMPORTERS_IMPORTED_RUN_H_
