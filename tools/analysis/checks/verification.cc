// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/checks/verification.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "messages/message.h"
#include "profiler/trace/events/event_names.h"
#include "tools/analysis/checks/consistency.h"

namespace memtrace::analysis {
namespace {

// Reports names that the file does not define, each once. A file that keeps only its last part
// (--keep) may lack some on purpose; a damaged one lacks the names in its damaged blocks.
class MissingNames {
 public:
  explicit MissingNames(const trace::TraceReader& reader) : reader_(reader) {}

  std::string Apply(const trace::Event& event) {
    std::string wrong;
    trace::EventNames(
        [&](trace::StringId id) {
          if (!reader_.HasString(id) && strings_.insert(id).second)
            wrong = Message("it refers to a name that the file does not define");
        },
        [&](trace::StackId id) {
          if (id == 0 || !stacks_.insert(id).second || reader_.HasStack(id)) return;
          wrong = Message("it refers to a stack that the file does not define");
        })
        .Visit(event.payload);
    return wrong;
  }

 private:
  const trace::TraceReader& reader_;
  absl::flat_hash_set<trace::StringId> strings_;
  absl::flat_hash_set<trace::StackId> stacks_;
};

// Verifies the events of one file as they come.
class Verifying {
 public:
  // `has_all`: no event is known to be missing.
  Verifying(bool has_all, Verification& verification)
      : verification_(verification),
        consistency_(!has_all || verification.completeness.live_set_missing) {}

  void LookForNames(const trace::TraceReader& reader) { missing_.emplace(reader); }

  void Apply(const trace::Event& event, uint64_t offset) {
    ++verification_.events;
    std::string wrong = consistency_.Apply(event);
    if (missing_ && wrong.empty()) wrong = missing_->Apply(event);
    if (wrong.empty() || ++verification_.fault_count > Verification::kMostFaults) return;
    verification_.faults.push_back(
        {.event = verification_.events, .offset = offset, .what = std::move(wrong)});
  }

 private:
  Verification& verification_;
  Consistency consistency_;
  std::optional<MissingNames> missing_;
};

}  // namespace

void VerifyEvents(const EventSource& source, Verification& verification) {
  Verifying verifying(verification.completeness.whole(), verification);
  source.ForEach([&verifying](const trace::Event& event) { verifying.Apply(event, 0); });
}

// A repaired trace lacks the contents of the blocks that were left out.
void VerifyEvents(const trace::TraceReader& reader, Verification& verification) {
  const trace::Completeness& completeness = verification.completeness;
  const bool has_all = completeness.whole() && !reader.info().contains("repaired");
  Verifying verifying(has_all, verification);
  if (has_all && completeness.kept_bytes == 0) verifying.LookForNames(reader);
  reader.ForEachAt(
      [&verifying](const trace::Event& event, uint64_t offset) { verifying.Apply(event, offset); });
}

}  // namespace memtrace::analysis
