// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/failure_json.h"

#include <algorithm>
#include <string>

#include "tools/report/words/quantity.h"

namespace memtrace::report {

using nlohmann::ordered_json;

namespace {

// Returns the moment that decides that the job does not fit; null if there is none.
const fit::MomentNeed* FailedMoment(const fit::Answer& answer) {
  return answer.whole_job ? fit::FailedMomentOf(answer.whole_job->moments) : nullptr;
}

// Returns the bytes that the moment's card does not have.
uint64_t ShortBy(const fit::MomentNeed& need, const fit::Answer& answer) {
  const auto card = static_cast<size_t>(need.card);
  const uint64_t has = card < answer.card_bytes.size() ? answer.card_bytes[card] : 0;
  return need.needs - std::min(need.needs, has);
}

ordered_json InferredFailureJson(const fit::MomentNeed& need, const fit::Answer& answer) {
  return {{"line", nullptr},
          {"bytes", nullptr},
          {"short_by", ShortBy(need, answer)},
          {"step", nullptr},
          {"phase", nullptr},
          {"fragmentation", false},
          {"moment", need.moment},
          {"known", std::string(fit::KnownName(need.known))}};
}

}  // namespace

ordered_json LineJson(const fit::FailedLine& failed) {
  return failed.line.empty() ? ordered_json(nullptr) : ordered_json(failed.line);
}

ordered_json FailureJson(const fit::Outcome& outcome) {
  const auto failed = outcome.Failed();
  if (!failed) return nullptr;
  return {{"line", LineJson(*failed)},
          {"bytes", failed->bytes},
          {"short_by", failed->short_by},
          {"step", failed->at.step},
          {"phase", std::string(PhaseName(failed->at.phase))},
          {"fragmentation", failed->is_fragmentation}};
}

ordered_json FirstFailureJson(const fit::Answer& answer) {
  const fit::MomentNeed* moment = FailedMoment(answer);
  ordered_json failure = FailureJson(answer.deciding());
  if (failure.is_null()) {
    const bool is_decided = moment != nullptr && answer.verdict() == fit::FitVerdict::kDoesNotFit;
    return is_decided ? InferredFailureJson(*moment, answer) : failure;
  }
  failure["moment"] = nullptr;
  if (moment != nullptr && moment->known == fit::Known::kExact) failure["moment"] = moment->moment;
  failure["known"] = std::string(fit::KnownName(fit::Known::kExact));
  return failure;
}

}  // namespace memtrace::report
