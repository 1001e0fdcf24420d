// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PPROF_PROFILE_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PPROF_PROFILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/trace/events/event.h"
#include "protozero/pbf_writer.hpp"
#include "tools/interchange/writers/rows/site_totals.h"

namespace memtrace::interchange {

// Builds a profile.proto (github.com/google/pprof, proto/profile.proto) that has every string,
// function and location once.
class PprofProfile {
 public:
  explicit PprofProfile(const ExportedRun& run);

  void Add(const Site& site, const SiteTotal& total);
  std::string Finish();

 private:
  int64_t String(std::string_view text);
  uint64_t Function(const trace::Frame& frame);
  uint64_t Location(const trace::Frame& frame);
  void AddValueType(std::string_view type, std::string_view unit);
  void AddLabel(protozero::pbf_writer& sample, std::string_view key, std::string_view value);

  const ExportedRun& run_;
  std::string bytes_;
  protozero::pbf_writer profile_;
  std::vector<std::string> strings_;
  absl::flat_hash_map<std::string, int64_t> string_ids_;
  absl::flat_hash_map<std::string, uint64_t> function_ids_;
  absl::flat_hash_map<std::string, uint64_t> location_ids_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_PPROF_PROFILE_H_
