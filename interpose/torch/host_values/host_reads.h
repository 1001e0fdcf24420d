// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_READS_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_READS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "interpose/torch/host_values/card_contents.h"
#include "interpose/torch/host_values/policy.h"

namespace memtrace::shim {

// Returns the frames of the calling thread, innermost first; none on a thread that Python does not
// know.
std::vector<PythonLine> PythonStack();

// Counts the values of the card that the host read. Unknown or assumed ones, which may have changed
// what the program did, are counted by the line of Python that read them. The counts go into the
// trace as annotations (simulation.values, simulation.reads.*, simulation.read.N) at each power of
// two, so that a killed process also leaves them, and at the end.
//
// Thread rule: any thread.
class HostReads {
 public:
  struct Read {
    std::string operation;  // "aten::_local_scalar_dense"
    Known known = Known::kUnknown;
    bool is_condition = false;   // the value is a boolean
    bool decides_sizes = false;  // it is a count, or a list of whole numbers
    std::string answer;          // the value that the host got; "" if it is not one number
  };

  explicit HostReads(const HostValuesPolicy& policy) : policy_(policy) {}

  void CountKnown();
  // Throws c10::Error, a RuntimeError in Python, if this line has read so many unknown values since
  // the last step began that it looks like an endless loop.
  void Note(const Read& read, const std::vector<PythonLine>& stack);

  // The program has chosen among unknown scores, as a router of experts does.
  void NoteChoice() { has_chosen_ = true; }
  // Returns the first line, as "train.py:31", that read assumed sizes after such a choice; "" if
  // there was none.
  std::string LineOfChosenSizes();

  void BeginStep();
  void Annotate();

  // Returns the lines that read assumed values, as "4\ttrain.py:31\n" each: the count, the file
  // without the folder where libraries are installed, and the line.
  std::string AssumedReads();

 private:
  struct Line {
    int number = 0;  // the annotation's
    uint64_t count = 0;
    uint64_t in_this_step = 0;
    std::string text;     // follows the count
    std::string assumed;  // "train.py:31" if the values were assumed, else ""
  };

  void AnnotateLine(const Line& line) const;
  void AnnotateTotals() const;

  const HostValuesPolicy& policy_;
  Mutex mutex_;
  std::map<std::string, Line> lines_;    // this and below: guarded by mutex_
  std::array<uint64_t, 3> totals_ = {};  // by Known
  std::string line_of_chosen_sizes_;
  std::atomic<bool> has_chosen_ = false;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_HOST_READS_H_
