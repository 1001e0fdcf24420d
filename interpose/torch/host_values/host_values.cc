// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/host_values.h"

#include "interpose/core/memtrace.h"
#include "interpose/torch/host_values/answers.h"
#include "interpose/torch/host_values/card_contents.h"
#include "interpose/torch/host_values/dispatch_keys.h"
#include "interpose/torch/host_values/fallback.h"
#include "interpose/torch/host_values/host_reads.h"
#include "interpose/torch/host_values/policy.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::shim {
namespace {

// Made at start, never destroyed, because operators run after every static destructor.
struct HostValues {
  explicit HostValues(const CardContents& contents) : card(contents) {}

  const CardContents& card;
  HostValuesPolicy policy;
  HostReads reads{policy};
  Answers answers{card, reads};
};
HostValues* host_values = nullptr;

}  // namespace

std::string StartHostValues(const std::vector<std::string>& policy_files) {
  if (host_values != nullptr) return "";
  const CardContents* card = CardContents::OfProcess();
  if (card == nullptr) return "-";
  if (IsDispatchKeyTaken()) {
    return "this torch itself uses the dispatch key " + std::string(c10::toString(kLeafKey)) +
           "; --host-values off runs without them";
  }
  auto* made = new HostValues(*card);
  for (const std::string& file : policy_files) {
    if (std::string wrong = made->policy.AddFile(file); !wrong.empty()) return wrong;
  }
  host_values = made;
  RegisterFallback(made->card, made->policy, made->answers);
  memtrace_annotate(std::string(trace::fact::kSimulationValues).c_str(), "on");
  made->reads.Annotate();
  return "";
}

void EnterHostValuesThread() { EnterFallback(); }

void ForgetFreshMemory(uint64_t address, size_t bytes) {
  if (host_values == nullptr || bytes == 0) return;
  host_values->card.HandOut(address, bytes);
}

void BeginHostValuesStep() {
  if (host_values != nullptr) host_values->reads.BeginStep();
}

void AnnotateHostValues() {
  if (host_values != nullptr) host_values->reads.Annotate();
}

void SetUnevenChoices(bool is_uneven) {
  if (host_values != nullptr) host_values->answers.SetUneven(is_uneven);
}

std::string LineOfChosenSizes() {
  return host_values == nullptr ? "" : host_values->reads.LineOfChosenSizes();
}

std::string AssumedReads() {
  return host_values == nullptr ? "" : host_values->reads.AssumedReads();
}

}  // namespace memtrace::shim
