// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/gap.h"

#include <algorithm>
#include <utility>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/moments.h"

namespace memtrace::fit {
namespace {

namespace moment = trace::moment;

// The moments of a job, as a sentence names them.
constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {moment::kLargestBatch, Marked("the largest batch")},
    {moment::kEvaluation, Marked("an evaluation")},
    {moment::kCheckpoint, Marked("saving a checkpoint")},
    {moment::kResume, Marked("resuming from a checkpoint")},
    {moment::kBestModel, Marked("loading or merging the best model")},
    {moment::kGeneration, Marked("generation")},
    {moment::kRouting, Marked("uneven routing to experts")},
    {moment::kLastBatch, Marked("the last batch")},
    {moment::kEnd, Marked("the end of the program")},
};

// Returns the text of a key; "" if there is none, or it is null.
std::string TextOf(const nlohmann::json& gap, const char* key) {
  const auto found = gap.find(key);
  return found != gap.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::vector<Gap> GapsOf(std::string_view text) {
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  std::vector<Gap> gaps;
  for (const nlohmann::json& gap : list.is_array() ? list : nlohmann::json::array()) {
    if (!gap.is_object() || TextOf(gap, "moment").empty()) return {};
    gaps.push_back({TextOf(gap, "moment"), TextOf(gap, "evidence"), TextOf(gap, "why_not")});
  }
  return gaps;
}

void AddGaps(const std::vector<Gap>& more, std::vector<Gap>& gaps) {
  for (const Gap& gap : more) {
    const bool is_known = std::any_of(
        gaps.begin(), gaps.end(), [&gap](const Gap& other) { return other.moment == gap.moment; });
    if (!is_known) gaps.push_back(gap);
  }
}

std::string MomentWords(std::string_view moment) {
  for (const auto& [word, words] : kWords)
    if (word == moment) return MessageOf(words);
  return std::string(moment);
}

}  // namespace memtrace::fit
