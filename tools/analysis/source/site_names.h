// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_SITE_NAMES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_SITE_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/trace/events/event.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Shortens a path: "transformer.h.0.mlp.c_fc" -> "transformer.h.*.mlp". Layer numbers become '*',
// and one name after the last of them stays. A parameter's path loses the parameter's own name
// first. Paths of numbers alone, which parts of an nn.Sequential have, become "[4]" for a module,
// "[*]" for a parameter, and "[*][0]" for either if one lies within another.
std::string CollapsedPath(std::string_view path, bool of_parameter);

using SiteId = uint32_t;

// Names where bytes come from, by the first of these that is known: the stated path, the module
// whose forward was running, the library of NVIDIA's that called the driver itself, the innermost
// frame of the user's own code, the innermost frame, the phase (autograd's threads have no stack).
// Each combination is worked out once.
class SiteNames {
 public:
  // `source` must outlive this.
  explicit SiteNames(const EventSource& source) : source_(source) {}

  SiteId Site(trace::Role role, trace::StringId path, trace::StringId module, trace::StackId stack,
              trace::Phase phase);
  const std::string& Name(SiteId id) const { return names_[id]; }

 private:
  std::string Describe(bool of_parameter, trace::StringId path, trace::StringId module,
                       trace::StackId stack, trace::Phase phase) const;
  SiteId Intern(std::string name);

  const EventSource& source_;
  std::vector<std::string> names_;
  absl::flat_hash_map<std::string, SiteId> by_name_;
  // Sites by the kind of thing that names them, and which one.
  absl::flat_hash_map<std::tuple<int, uint32_t>, SiteId> known_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_SITE_NAMES_H_
