// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_PROGRAM_LOOPS_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_PROGRAM_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/visit_marks.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/program_lines.h"

namespace memtrace::analysis {

// A loop of the program, known by its lines that allocate again and again.
struct ProgramLoop {
  std::string line;               // the first of them in the file: "train.py:11"
  std::vector<Visit> iterations;  // some of them, oldest first; the numbers count all. Not empty
  bool is_library = false;        // its lines are not the user's
  bool calls_modules = false;     // a module of torch is called in it
  bool is_of_one_line = false;
  // True if, as far as can be told, the program is at a later line for the first time.
  bool is_over = false;

  uint64_t count() const { return iterations.back().number; }
};

struct LineVisits;

// Finds the loops of a program in the stacks of its consecutive allocations, because no event says
// where an iteration begins. A line is visited whenever an allocation lies below it and the
// previous one did not:
//
//   main:7 -> train:11              train:11 is visited for the first time
//   main:7 -> train:12 -> (model)   train:12 for the first time
//   main:7 -> train:12 -> (model)
//   main:7 -> train:11              train:11 for the second time: an iteration of its loop
//
// A loop of one line is never left. An allocation there counts as a visit if it has the same stack
// as an earlier one of that line, unless torch's code below it may loop itself, as an optimizer
// does over its parameters.
class ProgramLoops {
 public:
  // `source` must outlive this.
  explicit ProgramLoops(const EventSource& source) : lines_(source), nodes_(1) {}

  // Takes an allocation, the event with that ordinal. `in_use`: bytes in use on all cards before
  // it.
  void Apply(const trace::Allocate& allocation, uint64_t event, uint64_t in_use);

  // Returns the loops of five or more iterations in which the program was at an event: around the
  // stack or, if that has no lines, around the line visited last. The user's loops come first, the
  // innermost of them first.
  std::vector<ProgramLoop> Around(trace::StackId stack, uint64_t event);

  // True if the stack is at a line that is reached for the first time and calls no module, after a
  // loop of the same function that called modules.
  bool IsAfterLoop(trace::StackId stack, uint64_t event);

 private:
  // A kind of allocation below a line that each iteration of a loop of that line alone has once.
  struct Anchor {
    trace::StackId stack = 0;
    trace::StringId module = 0;
    uint64_t requested = 0;  // 0 within a module, where it may differ
    VisitMarks visits;
  };
  struct Node {
    VisitMarks visits;
    std::vector<Anchor> anchors;  // of allocations of which it is the innermost line
    std::optional<size_t> latest_anchor;
  };

  void MoveTo(LineId leaf, uint64_t event, uint64_t in_use);
  void RecordAnchorVisit(const trace::Allocate& allocation, const ProgramLines::Path& path,
                         uint64_t event, uint64_t in_use);
  LineId LastVisitedLine(uint64_t event) const;
  std::optional<ProgramLoop> LoopOfLines(LineId id, uint64_t event) const;
  bool IsAfter(LineId id, const std::vector<LineVisits>& lines) const;
  bool Repeats(LineId id, uint64_t event) const;
  std::optional<ProgramLoop> LoopOfOneLine(LineId id, uint64_t event) const;

  ProgramLines lines_;
  std::vector<Node> nodes_;  // by LineId
  LineId current_ = ProgramLines::kRoot;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_PROGRAM_LOOPS_H_
