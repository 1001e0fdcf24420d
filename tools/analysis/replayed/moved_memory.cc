// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/moved_memory.h"

#include <string_view>
#include <utility>

#include "profiler/trace/events/visit.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

// Returns who asked: NVIDIA's library by its name, any other by its file, because the exported name
// that is nearest to a caller without one misleads; a line of Python as it is.
std::string PlaceOf(trace::StackId stack, SiteNames& sites, const EventSource& source) {
  if (stack == 0) return "";
  const SiteId site = sites.Site(trace::Role::kUnknown, 0, 0, stack, trace::Phase::kOther);
  std::string name = sites.Name(site);
  if (const std::string_view library = LibraryOfSite(name); !library.empty())
    return std::string(library);
  const std::string file = LibraryFile(source.Stack(stack));
  return file.empty() ? name : file;
}

}  // namespace

void MovedMemory::Apply(const trace::Event& event) {
  trace::Visit([this](const auto& payload) { Apply(payload); }, event.payload);
}

void MovedMemory::Apply(const trace::Moved& moved) {
  const trace::StringId name = moved.to != 0 ? moved.to : moved.owner;
  Sum& sum = sums_[{step_, moved.device, moved.kind, name, moved.stack}];
  sum.bytes += moved.bytes;
  ++sum.times;
}

std::vector<MovedBytes> MovedMemory::Sums(SiteNames& sites, const EventSource& source) const {
  std::vector<MovedBytes> moved;
  for (const auto& [key, sum] : sums_) {
    const auto& [step, device, kind, to, stack] = key;
    MovedBytes row{.device = device,
                   .kind = kind,
                   .step = step,
                   .to = to != 0 ? std::string(source.String(to)) : PlaceOf(stack, sites, source),
                   .bytes = sum.bytes,
                   .times = sum.times};
    // Several stacks may lead into one library.
    const bool is_same = !moved.empty() && moved.back().to == row.to && moved.back().step == step &&
                         moved.back().kind == kind && moved.back().device == device;
    if (is_same) {
      moved.back().bytes += row.bytes;
      moved.back().times += row.times;
    } else {
      moved.push_back(std::move(row));
    }
  }
  return moved;
}

}  // namespace memtrace::analysis
