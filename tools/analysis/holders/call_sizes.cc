// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/call_sizes.h"

#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "profiler/trace/events/visit.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {

uint64_t LogitsOfCall(const Annotations& annotations, uint64_t element_bytes) {
  uint64_t bytes = element_bytes;
  for (const std::string_view key : {trace::fact::kForwardVocabulary, trace::fact::kForwardSequence,
                                     trace::fact::kForwardBatch}) {
    const uint64_t count = AnnotatedNumber(annotations, key).value_or(0);
    if (count == 0 || bytes > UINT64_MAX / count) return 0;
    bytes *= count;
  }
  return bytes;
}

void CallSizes::See(const trace::Event& event, uint64_t ordinal) {
  trace::Visit([&](const auto& payload) { See(payload, ordinal); }, event.payload);
}

void CallSizes::See(const trace::Annotate& annotation, uint64_t /*ordinal*/) {
  const std::string_view key = source_.String(annotation.key);
  const bool is_batch = key == trace::fact::kForwardBatch;
  if (!is_batch && key != trace::fact::kForwardSequence) return;
  uint64_t& number = is_batch ? stated_.examples : stated_.length;
  if (!absl::SimpleAtoi(std::string(source_.String(annotation.value)), &number)) number = 0;
  has_changed_ = true;
}

void CallSizes::See(const trace::OutOfMemory& /*failed*/, uint64_t ordinal) {
  Conclude();
  at_failures_[ordinal] = {.now = now_, .before = before_};
}

void CallSizes::Conclude() {
  if (!has_changed_) return;
  has_changed_ = false;
  if (now_.elements() > before_.elements()) before_ = now_;
  now_ = stated_;
}

std::optional<LargestCall> CallSizes::LargestAt(uint64_t failure) const {
  constexpr uint64_t kTenth = 10;
  const auto found = at_failures_.find(failure);
  if (found == at_failures_.end()) return std::nullopt;
  const uint64_t before = found->second.before.elements();
  if (before == 0 || found->second.now.elements() < before + before / kTenth) return std::nullopt;
  return found->second;
}

}  // namespace memtrace::analysis
