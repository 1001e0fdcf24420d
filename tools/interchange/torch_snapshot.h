// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_TORCH_SNAPSHOT_H_
#define MEMTRACE_TOOLS_INTERCHANGE_TORCH_SNAPSHOT_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analysis/source/event_source.h"
#include "tools/interchange/pickle_prefix.h"
#include "tools/interchange/pickle_tree.h"
#include "tools/interchange/role_guesses.h"
#include "tools/interchange/snapshot_records.h"
#include "tools/interchange/snapshot_start.h"

namespace memtrace::interchange {

// A memory snapshot of torch as the events of a trace (docs/reference/interchange.md). Blocks and
// segments from before the snapshot's own trace come first, as alive; the traces of several devices
// are merged by time. Phases, steps and roles are guessed (RoleGuesses). A snapshot without a trace
// is a single moment: all its blocks are alive.
class TorchSnapshot : public analysis::EventSource {
 public:
  // `pickle` outlives this. One that is cut short gives what is whole of it
  // (docs/reference/interchange.md). Errors are a clause that names the place, as ReadPickle's are;
  // nothing of the file is executed.
  static absl::StatusOr<TorchSnapshot> Read(std::string_view pickle);

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override;
  std::string_view String(trace::StringId id) const override {
    return id < strings_.size() ? std::string_view(strings_[id]) : std::string_view();
  }
  std::vector<trace::Frame> Stack(trace::StackId id) const override;
  analysis::Evidence best_evidence() const override { return analysis::Evidence::kFrames; }

  // Facts of the process with the keys of trace::TraceReader::info; and "snapshot", of
  // analysis::RunFacts.
  const std::map<std::string, std::string>& info() const { return info_; }

  const PickleCut& cut() const { return cut_; }

 private:
  class Visit;

  TorchSnapshot(PickleTree tree, PickleCut cut, SnapshotRecords records);
  void NoteOwnTotals();
  size_t devices() const { return records_.devices.size(); }
  // Returns the private pool at an address, by its segment at the end; 0 if that is gone by then.
  uint32_t PoolAt(size_t device, uint64_t address) const;

  PickleTree tree_;
  PickleCut cut_;
  SnapshotRecords records_;
  std::vector<SnapshotStart> starts_;  // by device
  RoleGuesses guesses_;
  // The segments of private pools, by device: end and pool number by begin.
  std::vector<std::map<uint64_t, std::pair<uint64_t, uint32_t>>> pools_;
  std::map<std::string, std::string> info_;
  std::vector<std::string> strings_ = {""};  // keys and values of annotations, in turn
  uint64_t began_us_ = 0;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_TORCH_SNAPSHOT_H_
