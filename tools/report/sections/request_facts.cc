// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/request_facts.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "messages/message.h"
#include "tools/analysis/source/frames.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

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
  if (all > shown) facts.rows.push_back({label, Message("… $0 more", all - shown), true});
}

void AddStack(const analysis::ExplainedRequest& request, Facts& facts) {
  const std::vector<trace::Frame>& stack = request.stack;
  if (request.backward) {
    facts.rows.push_back({Message("at"), Printable(analysis::ShortFrame(*request.backward)), true});
    facts.rows.push_back({Message("inside"),
                          Message("the backward pass that it runs, whose threads have no lines"),
                          true});
    return;
  }
  if (stack.empty()) {
    facts.rows.push_back({Message("at"), Message("(no stack was recorded)"), true});
    return;
  }
  const trace::Frame* begin = stack.data();
  const trace::Frame* end = begin + stack.size();
  const trace::Frame* user = analysis::InnermostUserFrame(stack);
  if (user == nullptr) return AddFrames(Message("at"), begin, end, facts);
  facts.rows.push_back(FrameFact(Message("at"), *user));
  AddFrames(Message("inside"), begin, user, facts);
  AddFrames(Message("called by"), user + 1, end, facts);
}

// Returns "activations (inferred), owner policy, site train.py:9".
std::string PurposeText(const analysis::ExplainedRequest& request) {
  std::vector<std::string> parts = {RoleWords(request.role)};
  if (request.role != trace::Role::kUnknown)
    parts.front() += " (" + EvidenceWords(request.evidence) + ")";
  if (request.owner != "(none)") parts.push_back(Message("owner $0", Printable(request.owner)));
  parts.push_back(Message("site $0", SiteWords(request.site)));
  return absl::StrJoin(parts, ", ");
}

}  // namespace

Section RequestSection(const std::optional<analysis::ExplainedRequest>& failed) {
  Section section{.id = "request", .title = Message("THE REQUEST")};
  if (!failed) return section;
  section.subtitle = FormatBytes(failed->bytes);
  Facts facts{{{Message("purpose"), PurposeText(*failed)}}};
  AddStack(*failed, facts);
  section.parts.emplace_back(std::move(facts));
  return section;
}

}  // namespace memtrace::report
