// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fit/moments_json.h"

#include <string>

#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/annotation.h"

namespace memtrace::report {

using nlohmann::ordered_json;

namespace {

// Returns null for a text that is empty.
ordered_json TextOrNull(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json MomentJson(const fit::MomentNeed& need) {
  ordered_json json = {{"name", need.moment},
                       {"needs", need.needs},
                       {"card", need.card},
                       {"fits", nullptr},
                       {"holder", TextOrNull(need.holder.name)},
                       {"holder_places", need.holder.places},
                       {"held", need.holder.bytes},
                       {"line", TextOrNull(need.line)},
                       {"known", std::string(fit::KnownName(need.known))},
                       {"size", TextOrNull(need.size)},
                       {"failed_by_itself", TextOrNull(need.failed_by_itself)}};
  if (need.fits) json["fits"] = *need.fits;
  return json;
}

}  // namespace

ordered_json MomentsJson(const fit::Answer& answer) {
  ordered_json moments = ordered_json::array();
  if (!answer.whole_job) return moments;
  for (const fit::MomentNeed& need : answer.whole_job->moments) moments.push_back(MomentJson(need));
  return moments;
}

ordered_json LimitedByJson(const fit::Answer& answer) {
  const bool is_known = answer.whole_job && answer.whole_job->limited_by;
  return is_known ? MomentJson(*answer.whole_job->limited_by) : ordered_json(nullptr);
}

ordered_json GapsJson(const fit::Answer& answer) {
  ordered_json gaps = ordered_json::array();
  for (const fit::Gap& gap : answer.gaps) {
    gaps.push_back({{"moment", gap.moment}, {"evidence", gap.evidence}, {"why_not", nullptr}});
    if (!gap.why_not.empty()) gaps.back()["why_not"] = gap.why_not;
  }
  return gaps;
}

ordered_json BatchesJson(const fit::Outcome& outcome) {
  ordered_json batches = ordered_json::parse(
      analysis::AnnotatedText(outcome.annotations, trace::fact::kFitBatches), nullptr, false);
  return batches.is_array() ? batches : ordered_json::array();
}

}  // namespace memtrace::report
