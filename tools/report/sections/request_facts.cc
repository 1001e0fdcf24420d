// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/request_facts.h"

#include <utility>

#include "tools/analysis/source/frames.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

// The frames shown from the user's line into the libraries, and as many leading to it.
constexpr size_t kFramesEachWay = 4;
// The native frames shown; the first few are the allocation's own and say nothing of the operation.
constexpr size_t kNativeFrames = 16;

Fact FrameFact(const std::string& label, const trace::Frame& frame) {
  std::string place = Printable(analysis::ShortFrame(frame));
  if (!analysis::IsNative(frame)) place += "  " + Printable(frame.function);
  return {label, place, true};
}

void AddFrames(const std::string& label, const trace::Frame* first, const trace::Frame* last,
               Facts& facts) {
  size_t native = 0;
  size_t python = 0;
  for (const trace::Frame* frame = first; frame != last; ++frame) {
    size_t& count = analysis::IsNative(*frame) ? native : python;
    if (native == kNativeFrames || python == kFramesEachWay) break;
    facts.rows.push_back(FrameFact(label, *frame));
    ++count;
  }
  const size_t shown = native + python;
  const auto all = static_cast<size_t>(last - first);
  if (all > shown)
    facts.rows.push_back({label, "… " + std::to_string(all - shown) + " more", true});
}

void AddStack(const analysis::ExplainedRequest& request, Facts& facts) {
  const std::vector<trace::Frame>& stack = request.stack;
  if (request.backward) {
    facts.rows.push_back({"at", Printable(analysis::ShortFrame(*request.backward)), true});
    facts.rows.push_back(
        {"inside", "the backward pass that it runs; its threads have no lines", true});
    return;
  }
  if (stack.empty()) {
    facts.rows.push_back({"at", "(no stack was taken)", true});
    return;
  }
  const trace::Frame* begin = stack.data();
  const trace::Frame* end = begin + stack.size();
  const trace::Frame* user = analysis::InnermostUserFrame(stack);
  if (user == nullptr) return AddFrames("at", begin, end, facts);
  facts.rows.push_back(FrameFact("at", *user));
  AddFrames("inside", begin, user, facts);
  AddFrames("called by", user + 1, end, facts);
}

}  // namespace

Section RequestSection(const std::optional<analysis::ExplainedRequest>& failed) {
  Section section{.id = "request", .title = "THE REQUEST"};
  if (!failed) return section;
  const analysis::ExplainedRequest& request = *failed;
  section.subtitle = FormatBytes(request.bytes);
  std::string what = std::string(RoleName(request.role));
  what += request.role == trace::Role::kUnknown
              ? " role"
              : " (" + std::string(EvidenceName(request.evidence)) + ")";
  if (request.owner != "(none)") what += ", owner " + Printable(request.owner);
  what += ", site " + Printable(request.site);
  Facts facts;
  facts.rows.push_back({"asked for", what});
  AddStack(request, facts);
  section.parts.emplace_back(std::move(facts));
  return section;
}

}  // namespace memtrace::report
