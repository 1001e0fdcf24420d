// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/pprof_profile.h"

#include <array>

#include "tools/analysis/source/frames.h"
#include "tools/interchange/writers/flame_writers.h"
#include "tools/interchange/writers/rows/event_detail.h"
#include "tools/interchange/writers/rows/gzip.h"

namespace memtrace::interchange {
namespace {

using Tag = protozero::pbf_tag_type;

// Field numbers, by message.
constexpr Tag kProfileSampleType = 1;
constexpr Tag kProfileSample = 2;
constexpr Tag kProfileLocation = 4;
constexpr Tag kProfileFunction = 5;
constexpr Tag kProfileStringTable = 6;
constexpr Tag kProfileTimeNanos = 9;
constexpr Tag kProfileDurationNanos = 10;
constexpr Tag kProfileComment = 13;
constexpr Tag kProfileDefaultSampleType = 14;
constexpr Tag kValueType = 1;
constexpr Tag kValueUnit = 2;
constexpr Tag kSampleLocation = 1;
constexpr Tag kSampleValue = 2;
constexpr Tag kSampleLabel = 3;
constexpr Tag kLabelKey = 1;
constexpr Tag kLabelText = 2;
constexpr Tag kLocationId = 1;
constexpr Tag kLocationLine = 4;
constexpr Tag kLineFunction = 1;
constexpr Tag kLineNumber = 2;
constexpr Tag kFunctionId = 1;
constexpr Tag kFunctionName = 2;
constexpr Tag kFunctionSystemName = 3;
constexpr Tag kFunctionFile = 4;

}  // namespace

PprofProfile::PprofProfile(const ExportedRun& run) : run_(run), profile_(bytes_) {
  String("");  // the first of the table, by the format
  AddValueType("inuse_space", "bytes");
  AddValueType("inuse_objects", "count");
  AddValueType("alloc_space", "bytes");
  AddValueType("alloc_objects", "count");
}

int64_t PprofProfile::String(std::string_view text) {
  const auto [entry, is_new] =
      string_ids_.try_emplace(std::string(text), static_cast<int64_t>(strings_.size()));
  if (is_new) strings_.push_back(ValidUtf8(text));
  return entry->second;
}

void PprofProfile::AddValueType(std::string_view type, std::string_view unit) {
  protozero::pbf_writer value(profile_, kProfileSampleType);
  value.add_int64(kValueType, String(type));
  value.add_int64(kValueUnit, String(unit));
}

uint64_t PprofProfile::Function(const trace::Frame& frame) {
  const auto [entry, is_new] =
      function_ids_.try_emplace(frame.function + '\0' + frame.file, function_ids_.size() + 1);
  if (!is_new) return entry->second;
  protozero::pbf_writer function(profile_, kProfileFunction);
  function.add_uint64(kFunctionId, entry->second);
  function.add_int64(kFunctionName, String(frame.function));
  function.add_int64(kFunctionSystemName, String(frame.function));
  function.add_int64(kFunctionFile, String(frame.file));
  return entry->second;
}

uint64_t PprofProfile::Location(const trace::Frame& frame) {
  const uint64_t function = Function(frame);
  const auto [entry, is_new] = location_ids_.try_emplace(
      std::to_string(function) + ':' + std::to_string(frame.line), location_ids_.size() + 1);
  if (!is_new) return entry->second;
  protozero::pbf_writer location(profile_, kProfileLocation);
  location.add_uint64(kLocationId, entry->second);
  protozero::pbf_writer line(location, kLocationLine);
  line.add_uint64(kLineFunction, function);
  line.add_int64(kLineNumber, frame.line);
  return entry->second;
}

void PprofProfile::AddLabel(protozero::pbf_writer& sample, std::string_view key,
                            std::string_view value) {
  if (value.empty()) return;
  protozero::pbf_writer label(sample, kSampleLabel);
  label.add_int64(kLabelKey, String(key));
  label.add_int64(kLabelText, String(value));
}

void PprofProfile::Add(const Site& site, const SiteTotal& total) {
  const std::vector<trace::Frame> path = CallPath(site, run_);
  std::vector<uint64_t> locations;
  locations.reserve(path.size());
  for (auto frame = path.rbegin(); frame != path.rend(); ++frame) {  // innermost first
    locations.push_back(Location(*frame));
  }
  const std::array<int64_t, 4> values = {
      static_cast<int64_t>(total.peak_bytes), static_cast<int64_t>(total.peak_blocks),
      static_cast<int64_t>(total.all_bytes), static_cast<int64_t>(total.all_blocks)};
  protozero::pbf_writer sample(profile_, kProfileSample);
  sample.add_packed_uint64(kSampleLocation, locations.begin(), locations.end());
  sample.add_packed_int64(kSampleValue, values.begin(), values.end());
  AddLabel(sample, "card", std::to_string(site.device));
  AddLabel(sample, "role", trace::RoleName(site.role));
  AddLabel(sample, "role_known", analysis::EvidenceName(site.evidence));
  if (site.owner != 0) AddLabel(sample, "owner", run_.events.String(site.owner));
  if (site.module != 0) AddLabel(sample, "module", run_.events.String(site.module));
}

std::string PprofProfile::Finish() {
  if (!run_.facts.command.empty()) profile_.add_int64(kProfileComment, String(run_.facts.command));
  profile_.add_int64(kProfileDefaultSampleType, String("inuse_space"));
  profile_.add_int64(kProfileTimeNanos, static_cast<int64_t>(run_.facts.started_unix_ns));
  profile_.add_int64(kProfileDurationNanos,
                     static_cast<int64_t>(run_.survey.timeline().counts().last_ns));
  for (const std::string& text : strings_) profile_.add_string(kProfileStringTable, text);
  return std::move(bytes_);
}

void WritePprof(const ExportedRun& run, ByteSink& sink) {
  PprofProfile profile(run);
  for (const auto& [site, total] : SiteTotals(run)) profile.Add(site, total);
  sink.Write(Gzip(profile.Finish()));
}

}  // namespace memtrace::interchange
