// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_FIT_LAYERED_TRAINING_H_
#define MEMTRACE_TESTS_TOOLS_FIT_LAYERED_TRAINING_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/fit/answer/question.h"

namespace memtrace::fit {

// A training of layers with equal activations, as trials of it would find it. It knows the hooks
// checkpoint[=N], activations_on_host[=N], fused, freeze, graph_pool, lora and second_card. Its
// step takes a millisecond for each layer, and another half for each that is computed again.
class LayeredTraining {
 public:
  static constexpr uint64_t kGiB = uint64_t{1} << 30;

  uint64_t layers = 16;
  uint64_t lasting = 20 * kGiB;  // parameters, gradients and states
  uint64_t activations = 16 * kGiB;
  uint64_t serving = 0;         // of a model that only serves, which another card may hold
  uint64_t holes = 0;           // bytes that cannot be used
  uint64_t foreach_copies = 0;  // of the optimizer, unless it is fused
  uint64_t graph_pools = 0;     // of graphs, which one pool for all need not have
  bool can_offload = false;     // activations_on_host finds the layers
  bool recomputes = false;      // what needs most in the forward does so while it is computed again
  bool has_time = true;
  bool fails_early = false;         // a run that fails does so before any change was made
  bool fails_if_looked_at = false;  // a run in which hooks only count their places fails

  absl::StatusOr<Outcome> Run(const Trial& trial, std::string_view name) {
    ran.emplace_back(name);
    const std::map<std::string, uint64_t> changes = ChangesOf(trial.changes);
    const auto has = [&changes](const char* hook) {
      const auto change = changes.find(hook);
      return change != changes.end() && change->second > 0;
    };
    const uint64_t recomputed = has("checkpoint") ? changes.at("checkpoint") : 0;
    const uint64_t parts = has("lora") ? 4 : 1;  // of what lasts
    const uint64_t on_host = has("activations_on_host") ? changes.at("activations_on_host") : 0;
    const uint64_t kept = activations / layers * (layers - std::max(recomputed, on_host));
    const uint64_t stays = lasting / parts + (has("second_card") ? 0 : serving) +
                           (has("graph_pool") ? 0 : graph_pools);
    const uint64_t forward = stays + kept;
    const uint64_t update = stays + (has("fused") ? 0 : foreach_copies);
    Outcome outcome = Seen(forward, update, CardBytesOf(trial).front());
    const bool is_looked_at =
        !changes.empty() && std::all_of(changes.begin(), changes.end(),
                                        [](const auto& change) { return change.second == 0; });
    if (fails_if_looked_at && is_looked_at) outcome.completed = false;
    const bool is_early = fails_early && !outcome.completed;
    for (const auto& [hook, degree] : changes) {
      const bool is_of_layers = hook == "checkpoint" || hook == "activations_on_host";
      const uint64_t of = is_of_layers ? layers : hook == "freeze" ? 0 : 1;
      const bool exists = hook == "fused" || hook == "lora" || hook == "checkpoint" ||
                          (hook == "second_card" && serving > 0) ||
                          (hook == "graph_pool" && graph_pools > 0) ||
                          (hook == "activations_on_host" && can_offload);
      outcome.annotations["fit.changed." + hook] =
          absl::StrCat(R"({"places":)", is_early ? 0 : std::min(degree, of), R"(,"of":)",
                       exists && !is_early ? of : 0, "}");
    }
    const uint64_t microseconds =
        1000 * layers + 500 * recomputed - (has("fused") ? 1000 : 0) - (has("lora") ? 4000 : 0);
    if (has_time)
      outcome.processes.front().time =
          StepTime{.parts = {{.phase = "forward", .card = microseconds, .host = 0}}, .unknown = {}};
    return outcome;
  }

  std::vector<std::string> ran;

 private:
  // Returns the degree of each hook; of one without a degree, all layers.
  std::map<std::string, uint64_t> ChangesOf(const std::string& words) const {
    std::map<std::string, uint64_t> changes;
    for (const std::string& word :
         std::vector<std::string>(absl::StrSplit(words, ',', absl::SkipEmpty()))) {
      const size_t equals = word.find('=');
      changes[word.substr(0, equals)] =
          equals == std::string::npos ? layers : std::stoull(word.substr(equals + 1));
    }
    return changes;
  }

  Outcome Seen(uint64_t forward, uint64_t update, uint64_t card) const {
    Outcome outcome;
    ProcessNeed& process = outcome.processes.emplace_back();
    CardNeed& need = process.cards.emplace_back(CardNeed{.card = 0, .peak_at = {}, .parts = {}});
    const trace::Phase first = recomputes ? trace::Phase::kRecompute : trace::Phase::kForward;
    need.phase_peaks[static_cast<size_t>(first)] = forward;
    need.phase_peaks[static_cast<size_t>(trace::Phase::kOptimizer)] = update;
    need.peak_allocated = need.total = std::max(forward, update);
    need.fragmentation = holes;
    need.peak_reserved = need.total + holes;
    outcome.completed = need.peak_reserved <= card;
    if (outcome.completed) return outcome;
    outcome.exit_code = 1;
    process.failed = FailedLine{.line = "train.py:3", .bytes = kGiB, .at = {}};
    process.failed->short_by = std::min(need.peak_reserved - card, kGiB);
    process.failed->at.phase = forward + holes > card ? first : trace::Phase::kOptimizer;
    return outcome;
  }
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TESTS_TOOLS_FIT_LAYERED_TRAINING_H_
