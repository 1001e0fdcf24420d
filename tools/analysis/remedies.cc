// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/remedies.h"

#include <algorithm>

namespace memtrace::analysis {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Kernels that read the states in place: no copy of them.
bool HasFusedUpdate(std::string_view optimizer) {
  return optimizer == "Adam" || optimizer == "AdamW" || optimizer == "SGD" ||
         optimizer == "Adagrad";
}

uint64_t WholeMiB(uint64_t bytes) { return (bytes + kMiB - 1) / kMiB * kMiB; }

// What the card has to hold for the step that failed, as it is.
std::optional<uint64_t> NeedOfStep(const Verdict& verdict, const Ledger& ledger,
                                   const std::optional<NextStep>& foreseen) {
  if (verdict.step_short_by) return WholeMiB(ledger.total + *verdict.step_short_by);
  if (foreseen) return WholeMiB(std::max(foreseen->need, ledger.total + verdict.short_by));
  return std::nullopt;
}

std::string WithoutCopy(std::string_view optimizer) {
  if (optimizer.empty()) return "the optimizer(..., foreach=False)";
  return std::string(optimizer) + (HasFusedUpdate(optimizer) ? "(..., fused=True), or foreach=False"
                                                             : "(..., foreach=False)");
}

}  // namespace

uint64_t Remedy::need() const { return std::max(this_step, next_step.value_or(0)); }

std::vector<Remedy> FindRemedies(const Verdict& verdict, const Ledger& ledger,
                                 const std::optional<ForeachCopy>& copy,
                                 const std::optional<NextStep>& next, uint64_t failed_in) {
  std::vector<Remedy> remedies;
  const bool foreseen = next && next->number == failed_in;
  const auto need = NeedOfStep(verdict, ledger, foreseen ? next : std::nullopt);
  if (!need || !ledger.total_known) return remedies;
  std::optional<uint64_t> later;
  if (next && next->number > failed_in) later = WholeMiB(next->need);
  if (copy) {
    remedies.push_back({"no temporary copy", *need - std::min(*need, copy->copy_bytes), later,
                        "estimated", WithoutCopy(copy->optimizer)});
  }
  remedies.push_back(
      {"a larger card", *need, later, "estimated", "the smallest card for the program as it is"});
  return remedies;
}

}  // namespace memtrace::analysis
