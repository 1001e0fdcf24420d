// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/processes_json.h"

#include <optional>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/report/words/json_text.h"

namespace memtrace::report {
namespace {

using analysis::Comparison;
using analysis::Job;
using analysis::PeakCause;
using analysis::ProcessView;
using nlohmann::ordered_json;

ordered_json TextOrNull(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

template <typename Number>
ordered_json NumberOrNull(const std::optional<Number>& number) {
  return number ? ordered_json(*number) : ordered_json(nullptr);
}

ordered_json FailureJson(const analysis::FirstFailure& failure) {
  return {{"time_ns", failure.job_ns},
          {"step", failure.at.step},
          {"phase", std::string(PhaseName(failure.at.phase))},
          {"cause", std::string(trace::FailureCauseName(failure.verdict.cause))},
          {"bytes", failure.verdict.requested},
          {"short_by", failure.verdict.short_by}};
}

ordered_json PlaceJson(const Job& job, const ProcessView& view) {
  ordered_json places = ordered_json::array();
  const std::optional<uint64_t> rank = analysis::RankOf(view);
  if (!rank) return places;
  for (const analysis::JobDimension& dimension : job.shape.dimensions) {
    places.push_back(
        {{"name", dimension.name}, {"size", dimension.size}, {"at", dimension.PlaceOf(*rank)}});
  }
  return places;
}

// Returns what was added to a process after the first version of the schema.
void AddFigures(const Job& job, const ProcessView& view, ordered_json& json) {
  json["place"] = PlaceJson(job, view);
  json["ranks_alike"] =
      view.run.ranks_alike == 0 ? ordered_json(nullptr) : ordered_json(view.run.ranks_alike);
  json["end_known"] = view.end_is_known();
  json["exception"] = TextOrNull(view.exception);
  json["allocated"] = view.allocated;
  json["reserved"] = view.reserved;
  json["used"] = NumberOrNull(view.used);
  json["nccl"] = view.nccl;
  json["steps"] = view.steps;
  json["peak_at"] = {{"step", view.peak_at.step},
                     {"micro_batch", view.peak_at.micro_batch},
                     {"phase", std::string(PhaseName(view.peak_at.phase))}};
  json["micro_batches_in_flight"] =
      view.in_flight ? ordered_json(view.in_flight->count) : ordered_json(nullptr);
}

ordered_json ViewJson(const Job& job, const ProcessView& view) {
  ordered_json json = {{"file", view.file}, {"readable", view.is_readable()}};
  if (!view.is_readable()) {
    json["reason"] = view.unreadable;
    return json;
  }
  json["rank"] = TextOrNull(view.run.rank);
  json["host"] = TextOrNull(view.run.host);
  json["process"] = TextOrNull(view.run.process);
  json["whole"] = view.run.completeness.whole();
  json["card"] = {{"index", view.card}, {"bytes", view.card_bytes}, {"peak", view.peak}};
  json["contexts"] = ordered_json::array();
  for (const auto& [card, bytes] : view.contexts)
    json["contexts"].push_back({{"card", card}, {"bytes", bytes}});
  json["by_role"] = ordered_json::array();
  for (const analysis::Share& share : view.by_role)
    json["by_role"].push_back({{"name", share.name}, {"bytes", share.bytes}});
  json["out_of_memory"] = view.failures;
  json["first_failure"] =
      view.first_failure ? FailureJson(*view.first_failure) : ordered_json(nullptr);
  AddFigures(job, view, json);
  return json;
}

ordered_json OutliersJson(const Job& job) {
  ordered_json outliers = ordered_json::array();
  for (const analysis::Outlier& outlier : FindOutliers(job.processes)) {
    ordered_json roles = ordered_json::array();
    for (const auto& [role, more] : outlier.roles)
      roles.push_back({{"name", role}, {"difference", more}});
    const ProcessView& view = job.processes[outlier.process];
    outliers.push_back(
        {{"file", view.file}, {"peak", view.peak}, {"median", outlier.median}, {"roles", roles}});
  }
  return outliers;
}

// Returns null if the trace does not say how the program ended, or if an exception ended it.
ordered_json FitsJson(const ProcessView& view) {
  if (view.first_failure) return false;
  if (!view.end_is_known() || !view.exception.empty()) return nullptr;
  return true;
}

ordered_json KindsJson(const Job& job) {
  ordered_json kinds = ordered_json::array();
  for (const analysis::RankKind& kind : job.kinds) {
    ordered_json files = ordered_json::array();
    for (const size_t process : kind.processes) files.push_back(job.processes[process].file);
    const ProcessView& view = job.processes[kind.first()];
    kinds.push_back({{"files", files},
                     {"ranks", NumberOrNull(kind.ranks)},
                     {"used_share", NumberOrNull(analysis::UsedShare(view))},
                     {"peak", view.peak},
                     {"fits", FitsJson(view)}});
  }
  return kinds;
}

std::string CauseName(PeakCause::Kind kind) {
  using Cause = PeakCause::Kind;
  switch (kind) {
    case Cause::kModule:
      return "module";
    case Cause::kMicroBatches:
      return "micro_batches";
    case Cause::kLoss:
      return "loss";
    case Cause::kLayers:
      return "layers";
    case Cause::kHolder:
      return "holder";
    case Cause::kRest:
      break;
  }
  return "rest";
}

ordered_json CauseJson(const PeakCause& cause) {
  ordered_json json = {{"cause", CauseName(cause.kind)}, {"difference", cause.bytes}};
  if (cause.kind == PeakCause::Kind::kHolder) json["role"] = std::string(RoleName(cause.role));
  if (!cause.site.empty()) json["site"] = cause.site;
  if (!cause.line.empty()) json["line"] = cause.line;
  if (cause.count > 0) {
    json["count"] = cause.count;
    json["other_count"] = cause.other_count;
  }
  return json;
}

ordered_json DifferencesJson(const Job& job) {
  ordered_json differences = ordered_json::array();
  for (const Comparison& comparison : job.comparisons) {
    ordered_json causes = ordered_json::array();
    for (const PeakCause& cause : comparison.causes) causes.push_back(CauseJson(cause));
    differences.push_back({{"file", job.processes[comparison.process].file},
                           {"compared_with", job.processes[comparison.with].file},
                           {"difference", comparison.bytes},
                           {"causes", causes}});
  }
  return differences;
}

ordered_json ImbalanceJson(const Job& job) {
  if (!job.imbalance) return nullptr;
  return {{"most", job.processes[job.imbalance->most].file},
          {"least", job.processes[job.imbalance->least].file},
          {"difference", job.imbalance->bytes},
          {"balanced", NumberOrNull(job.imbalance->balanced)}};
}

ordered_json DimensionsJson(const Job& job) {
  ordered_json dimensions = ordered_json::array();
  for (const analysis::JobDimension& dimension : job.shape.dimensions) {
    dimensions.push_back(
        {{"name", dimension.name}, {"size", dimension.size}, {"stride", dimension.stride}});
  }
  return dimensions;
}

}  // namespace

std::string JsonProcesses(const std::string& folder, const Job& job) {
  ordered_json processes = ordered_json::array();
  for (const ProcessView& view : job.processes) processes.push_back(ViewJson(job, view));
  const auto first = FirstToFail(job.processes);
  return JsonText(
      {{"schema", "memtrace.processes/1"},
       {"folder", folder},
       {"first_to_fail", first ? ordered_json(job.processes[*first].file) : ordered_json()},
       {"missing_ranks", MissingRanks(job.processes)},
       {"virtual_ranks", VirtualRanks(job.processes)},
       {"outliers", OutliersJson(job)},
       {"processes", processes},
       {"ranks", job.shape.world},
       {"dimensions", DimensionsJson(job)},
       {"kinds", KindsJson(job)},
       {"differences", DifferencesJson(job)},
       {"imbalance", ImbalanceJson(job)}});
}

}  // namespace memtrace::report
