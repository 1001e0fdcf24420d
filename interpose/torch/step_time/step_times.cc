// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/step_time/step_times.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "interpose/core/memtrace.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::shim {
namespace {

namespace fact = trace::fact;

enum Phase : int {
#define MEMTRACE_PHASE(name, text) k##name,
#include "profiler/trace/vocabulary/phases.def"
#undef MEMTRACE_PHASE
};
constexpr std::string_view kPhaseNames[] = {
#define MEMTRACE_PHASE(name, text) text,
#include "profiler/trace/vocabulary/phases.def"
#undef MEMTRACE_PHASE
};

// Microseconds of the host for an operator that launches work: with Python's modules, by autograd,
// and in the loop of an optimizer. They were chosen by the steps measured on one machine
// (bench/step_counts.py); another processor has others.
constexpr double kHostForward = 36;
constexpr double kHostBackward = 30;
constexpr double kHostOptimizer = 17;
// Microseconds for each further kernel of the same operator; assumed.
constexpr double kHostKernel = 5;

double HostOf(int phase) {
  if (phase == kBackward) return kHostBackward;
  return phase == kOptimizer ? kHostOptimizer : kHostForward;
}

void AnnotateNumber(const std::string& key, double number) {
  memtrace_annotate(key.c_str(), std::to_string(std::llround(number)).c_str());
}

// Returns a JSON list. Names of operators have neither quotes nor backslashes.
std::string JsonOf(const std::set<std::string>& names) {
  std::string json = "[";
  for (const std::string& name : names) json += (json.size() > 1 ? ",\"" : "\"") + name + "\"";
  return json + "]";
}

}  // namespace

std::atomic<StepTimes*> StepTimes::of_process = nullptr;

bool StepTimes::Start() {
  if (OfProcess() != nullptr) return true;
  std::unique_ptr<CardWork> card = CardWork::OfProcess();
  if (card == nullptr) return false;
  // Never destroyed, because operators run after every static destructor.
  of_process.store(new StepTimes(std::move(card)), std::memory_order_release);
  return true;
}

StepTimes::StepTimes(std::unique_ptr<CardWork> card)
    : card_(std::move(card)), times_(card_->Times()), before_(card_->Now()) {}

void StepTimes::Add(const std::string& name, const Work& work, uint64_t kernels,
                    const void* stream) {
  const auto phase = static_cast<size_t>(phase_.load(std::memory_order_relaxed));
  const double time = MicrosecondsOf(work, times_);
  const double further = kernels > 1 ? static_cast<double>(kernels - 1) : 0;
  const MutexLock lock(mutex_);
  Part& part = current_.parts[std::min(phase, kPhases - 1)];
  part.host += HostOf(static_cast<int>(phase)) + further * kHostKernel;
  ++current_.launches;
  if (work.kind != WorkKind::kToCard && work.kind != WorkKind::kToHost) {
    part.card += time;
    computed_[stream] += time;
  } else if (work.is_awaited) {
    current_.awaited += time;
  } else if (IsComputing(stream)) {
    part.card += time;
  } else {
    current_.overlapped += time;
  }
  if (work.is_unknown) current_.unknown.insert(name);
}

bool StepTimes::IsComputing(const void* stream) const {
  const auto of = computed_.find(stream);
  const double time = of == computed_.end() ? 0 : of->second;
  return std::none_of(computed_.begin(), computed_.end(),
                      [time](const auto& other) { return other.second > time; });
}

void StepTimes::EndStep() {
  const MutexLock lock(mutex_);
  const CardWork::Counts now = card_->Now();
  const uint64_t launches = now.launches - before_.launches;
  const uint64_t inside = inside_.exchange(0, std::memory_order_relaxed);
  current_.outside = launches - std::min(launches, inside);
  current_.link = static_cast<double>(now.sent - before_.sent) / times_.link +
                  static_cast<double>(now.sent_network - before_.sent_network) / times_.network;
  last_ = std::exchange(current_, {});
  before_ = now;
  has_last_ = true;
}

// Counts recomputation as a part of the backward pass.
StepTimes::Part StepTimes::PartOf(int phase) const {
  Part part = last_.parts[static_cast<size_t>(phase)];
  if (phase == kRecompute) return {};
  if (phase == kBackward) {
    part.card += last_.parts[kRecompute].card;
    part.host += last_.parts[kRecompute].host;
  }
  return part;
}

void StepTimes::Annotate() {
  const MutexLock lock(mutex_);
  if (!has_last_) return;
  double on_card = 0;
  for (size_t phase = 0; phase < kPhases; ++phase) {
    const Part part = PartOf(static_cast<int>(phase));
    on_card += part.card;
    if (part.host == 0) continue;
    AnnotateNumber(fact::kFitStepCardUs.Of(kPhaseNames[phase]), part.card);
    AnnotateNumber(fact::kFitStepHostUs.Of(kPhaseNames[phase]), part.host);
  }
  const double beyond = std::max(0.0, last_.overlapped - on_card);
  AnnotateNumber(std::string(fact::kFitStepBusUs), last_.awaited + beyond);
  AnnotateNumber(std::string(fact::kFitStepLinkUs), last_.link);
  AnnotateNumber(std::string(fact::kFitStepLaunches), static_cast<double>(last_.launches));
  AnnotateNumber(std::string(fact::kFitStepOutside), static_cast<double>(last_.outside));
  memtrace_annotate(std::string(fact::kFitTimesSource).c_str(),
                    times_.is_measured != 0 ? "measured" : "assumed");
  memtrace_annotate(std::string(fact::kFitTimesUnknown).c_str(), JsonOf(last_.unknown).c_str());
}

}  // namespace memtrace::shim
