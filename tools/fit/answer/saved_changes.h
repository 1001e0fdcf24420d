// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_ANSWER_SAVED_CHANGES_H_
#define MEMTRACE_TOOLS_FIT_ANSWER_SAVED_CHANGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/answer/question.h"

namespace memtrace::fit {

// A change that the Python package makes, and what it changed in the trial.
struct SavedChange {
  std::string name;         // its hook
  std::string degree;       // empty: it has none, or its usual one
  std::string by = {};      // the moment at which it had been made, of _apply/moments.py
  uint64_t places = 0;      // where it had been made by then
  uint64_t of = 0;          // all such places; 0: not known
  std::string target = {};  // their class
  std::string first = {};   // the path of the first one in its model
  std::string line = {};    // the program's line that made the object, such as "train.py:41"
  std::string write = {};   // the change as a user writes it
};

// Changes that `fit` found and `run` applies (docs/design/whole-job.md, "Saved changes").
struct SavedChanges {
  std::string torch = {};                            // of the trial: "2.11.0+cu130"
  std::map<std::string, std::string> packages = {};  // versions of its libraries, by name
  std::string script = {};                           // the name of the script's file
  std::string script_version = {};                   // as in traces; empty: not known
  std::vector<std::string> arguments = {};           // all words of the command, if it has options
  std::vector<std::string> options = {};             // that differ from the user's: "batch=4"
  std::string card = {};
  std::string allocator = {};                        // "native", "memtrace"; empty: the user's
  std::map<std::string, std::string> settings = {};  // variables of the environment
  std::vector<SavedChange> changes = {};
  uint64_t peak_allocated = 0;  // of the trial, on the card that needs most; 0: not known
  uint64_t peak_reserved = 0;
};

// Returns the changes of the recommended trial. Requires answer.recommended.
SavedChanges SavedChangesOf(const Question& question, const Answer& answer);

// Returns the file's text.
std::string TextOf(const SavedChanges& saved);

// Reads the file. Returns kInvalidArgument with a sentence if it cannot be read, is another file,
// has another schema, or names a change that is not known.
absl::StatusOr<SavedChanges> ReadSavedChanges(const std::string& file);

// Parses "checkpointing=9,fused": hooks, or names of remedies with hyphens. Returns
// kInvalidArgument with a sentence that lists the names.
absl::StatusOr<SavedChanges> ParseChanges(std::string_view names);

// Returns kInvalidArgument with a sentence if the command runs another script, another version of
// it, or without the options of the trial. `file` is the name of the saved changes. A script that
// the command does not name (python -m) is not checked here.
absl::Status CheckCommand(const SavedChanges& saved, const std::string& file,
                          const std::vector<std::string>& command);

// Returns the changes as the Python package takes them: "checkpoint=9,fused".
std::string WordsOf(const SavedChanges& saved);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_ANSWER_SAVED_CHANGES_H_
