// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/site_names.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the name of a path of numbers alone, of an nn.Sequential's part: "3.0" is [*][0]. The
// last number of a module stays, because nothing else tells a convolution from a norm; parameters
// of parts of one nn.Sequential are one row, as those of layers are.
std::string NumberedPath(const std::vector<std::string>& parts, bool of_parameter) {
  if (of_parameter && parts.size() == 1) return "[*]";
  std::string path;
  for (size_t i = 1; i < parts.size(); ++i) path += "[*]";
  return path + "[" + parts.back() + "]";
}

bool HasParameterPath(trace::Role role) {
  return role == trace::Role::kParameter || role == trace::Role::kGradient ||
         role == trace::Role::kOptimizerState;
}

}  // namespace

std::string CollapsedPath(std::string_view path, bool of_parameter) {
  std::vector<std::string> parts = absl::StrSplit(absl::string_view(path.data(), path.size()), '.');
  if (of_parameter && parts.size() > 1) parts.pop_back();
  if (std::all_of(parts.begin(), parts.end(), IsNumber)) return NumberedPath(parts, of_parameter);
  size_t keep = parts.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!IsNumber(parts[i])) continue;
    parts[i] = "*";
    keep = std::min(parts.size(), i + 2);
  }
  parts.resize(keep);
  return absl::StrJoin(parts, ".");
}

SiteId SiteNames::Site(trace::Role role, trace::StringId path, trace::StringId module,
                       trace::StackId stack, trace::Phase phase) {
  const bool of_parameter = HasParameterPath(role);
  std::tuple<int, uint32_t> key = {0, stack};
  if (stack == 0) key = {4, static_cast<uint32_t>(phase)};
  if (path != 0) {
    key = {of_parameter ? 3 : 2, path};
  } else if (module != 0) {
    key = {1, module};
  }
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  // A stack whose definition was lost has no name of its own, so each block gets that of its phase.
  const bool is_lost = path == 0 && module == 0 && stack != 0 && source_.Stack(stack).empty();
  if (is_lost) return Site(role, 0, 0, 0, phase);
  const SiteId id = Intern(Describe(of_parameter, path, module, stack, phase));
  known_.emplace(key, id);
  return id;
}

std::string SiteNames::Describe(bool of_parameter, trace::StringId path, trace::StringId module,
                                trace::StackId stack, trace::Phase phase) const {
  if (path != 0) return CollapsedPath(source_.String(path), of_parameter);
  if (module != 0) return CollapsedPath(source_.String(module), false);
  const std::vector<trace::Frame> frames = source_.Stack(stack);
  if (const std::string library = LibraryCalled(frames); !library.empty()) return library;
  if (const trace::Frame* user = InnermostUserFrame(frames)) return ShortFrame(*user);
  if (!frames.empty()) return ShortFrame(MostInformativeFrame(frames));
  if (phase == trace::Phase::kOther) return "(no stack)";
  return "(in " + std::string(PhaseName(phase)) + ")";
}

SiteId SiteNames::Intern(std::string name) {
  const auto [found, is_new] = by_name_.emplace(name, static_cast<SiteId>(names_.size()));
  if (is_new) names_.push_back(std::move(name));
  return found->second;
}

}  // namespace memtrace::analysis
