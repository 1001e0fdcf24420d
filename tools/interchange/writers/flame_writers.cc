// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/flame_writers.h"

#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "nlohmann/json.hpp"
#include "tools/interchange/writers/rows/event_detail.h"
#include "tools/interchange/writers/rows/site_totals.h"

namespace memtrace::interchange {
namespace {

using Json = nlohmann::ordered_json;

std::string CardName(int32_t device) { return "GPU " + std::to_string(device); }

std::string Collapsible(std::string text) {
  for (char& c : text) {
    if (c == ';' || c == '\n' || c == '\r') c = '_';
  }
  return text;
}

// The frames of a speedscope file, each once.
class FrameTable {
 public:
  size_t IndexOf(const trace::Frame& frame) {
    const std::string key = frame.function + '\0' + frame.file + '\0' + std::to_string(frame.line);
    const auto [entry, is_new] = indices_.try_emplace(key, frames_.size());
    if (is_new) frames_.push_back(Describe(frame));
    return entry->second;
  }
  Json Take() { return std::move(frames_); }

 private:
  static Json Describe(const trace::Frame& frame) {
    Json json = {{"name", frame.function}};
    if (!frame.file.empty()) json["file"] = frame.file;
    if (frame.line != 0) json["line"] = frame.line;
    return json;
  }

  absl::flat_hash_map<std::string, size_t> indices_;
  Json frames_ = Json::array();
};

struct SampledProfile {
  Json samples = Json::array();
  Json weights = Json::array();
  uint64_t bytes = 0;
};

Json ProfileJson(const std::string& name, SampledProfile profile) {
  return {{"type", "sampled"},
          {"name", name},
          {"unit", "bytes"},
          {"startValue", 0},
          {"endValue", profile.bytes},
          {"samples", std::move(profile.samples)},
          {"weights", std::move(profile.weights)}};
}

std::map<int32_t, SampledProfile> ProfilesOf(const ExportedRun& run, FrameTable& frames) {
  std::map<int32_t, SampledProfile> profiles;
  for (const int32_t device : CardsOf(run)) profiles[device];
  for (const auto& [site, total] : SiteTotals(run)) {
    if (total.peak_bytes == 0) continue;
    Json sample = {frames.IndexOf({"", std::string(trace::RoleName(site.role)), 0})};
    for (const trace::Frame& frame : CallPath(site, run)) sample.push_back(frames.IndexOf(frame));
    SampledProfile& profile = profiles[site.device];
    profile.samples.push_back(std::move(sample));
    profile.weights.push_back(total.peak_bytes);
    profile.bytes += total.peak_bytes;
  }
  return profiles;
}

}  // namespace

void WriteCollapsed(const ExportedRun& run, ByteSink& sink) {
  const bool several = CardsOf(run).size() > 1;
  std::map<std::string, uint64_t> lines;
  for (const auto& [site, total] : SiteTotals(run)) {
    if (total.peak_bytes == 0) continue;
    std::string line = several ? CardName(site.device) + ";" : "";
    line += trace::RoleName(site.role);
    for (const trace::Frame& frame : CallPath(site, run))
      line += ";" + Collapsible(FrameText(frame));
    lines[line] += total.peak_bytes;
  }
  for (const auto& [line, bytes] : lines) sink.Write(line + " " + std::to_string(bytes) + "\n");
}

void WriteSpeedscope(const ExportedRun& run, ByteSink& sink) {
  FrameTable frames;
  Json profiles = Json::array();
  for (auto& [device, profile] : ProfilesOf(run, frames)) {
    profiles.push_back(ProfileJson(CardName(device) + " at its peak", std::move(profile)));
  }
  const Json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                     {"exporter", "memtrace"},
                     {"name", run.facts.file},
                     {"shared", {{"frames", frames.Take()}}},
                     {"profiles", std::move(profiles)}};
  sink.Write(CompactJson(file) + "\n");
}

}  // namespace memtrace::interchange
