// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_RUN_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_RUN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "tools/analysis/replay/torch/torch_settings.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::replay {

enum class PolicyKind : uint8_t { kTorchNative, kTorchExpandable, kMemtrace, kLowerBound };

// Facts about a card of a run that a replay needs before it plays the run.
struct RecordedDevice {
  uint64_t allocations = 0;
  std::optional<Bytes> card;    // all of it, if the trace says
  std::optional<Bytes> usable;  // else the most that its allocator could have had, if stated
  Bytes rest = 0;               // the most of the card that was not the allocator's
  // Peak of the blocks' bytes, each rounded up to 512 and counted until its free is requested.
  Bytes lower_bound = 0;
  // True if the trace says where the memory of every block comes from. If not, it begins later than
  // the program.
  bool is_complete = true;
  // True if the last request of the run failed; what would have come after it is not known.
  bool ends_in_failure = false;
  // Sequence numbers of the events before which the program emptied its cache.
  std::vector<uint64_t> empty_cache;

  // Returns the bytes of a card of `bytes` that the allocator may have.
  Bytes Usable(Bytes bytes) const { return bytes > rest ? bytes - rest : 0; }
};

struct RecordedRun {
  PolicyKind policy = PolicyKind::kTorchNative;
  TorchSettings settings;
  bool says_pools = false;                    // of every block
  std::map<int32_t, RecordedDevice> devices;  // that have allocations

  // Reads the events once. A trace that does not say that memtrace wrote it (`writer`) need not
  // state pools. `allocator` is "memtrace", "native" or empty (not known), `settings` the text of
  // PYTORCH_CUDA_ALLOC_CONF.
  static RecordedRun Of(const analysis::EventSource& source, const std::string& allocator,
                        const std::string& settings, const std::string& writer = "");
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_RECORDED_RUN_H_
