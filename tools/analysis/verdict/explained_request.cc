// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/explained_request.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tools/analysis/replayed/role_inference.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

// Parses the line of the backward, which the hook states at each call that differs from the one
// before: file and line, with a tab between them.
std::optional<trace::Frame> LineOfBackward(const Annotations& annotations) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(AnnotatedText(annotations, fact::kBackwardPlace), absl::MaxSplits('\t', 1));
  trace::Frame frame{.file = parts.first, .function = "", .line = 0};
  if (frame.file.empty() || !absl::SimpleAtoi(parts.second, &frame.line)) return std::nullopt;
  return frame;
}

}  // namespace

ExplainedRequest DescribeRequest(const FailedRequest& failed, uint64_t number,
                                 const EventSource& source, SiteNames& sites) {
  const trace::OutOfMemory& event = failed.event;
  ExplainedRequest request;
  request.bytes = event.requested;
  request.obtainable = event.obtainable;
  request.limit = event.limit;
  request.owner = event.owner == 0 ? "(none)" : std::string(source.String(event.owner));
  request.stack = source.Stack(event.stack);
  if (request.stack.empty() && failed.at.phase == trace::Phase::kBackward)
    request.backward = LineOfBackward(failed.annotations);
  request.role = InferRequestRole(failed.at, request.stack);
  if (request.role != trace::Role::kUnknown)
    request.evidence = std::min(Evidence::kPhase, source.best_evidence());
  request.site =
      sites.Name(sites.Site(request.role, 0, event.module, event.stack, failed.at.phase));
  if (event.module != 0) request.module = source.String(event.module);
  request.at = failed.at;
  request.number = number;
  return request;
}

std::string UserLine(const ExplainedRequest& request) {
  if (request.backward) return ShortFrame(*request.backward);
  return UserLine(request.stack);
}

}  // namespace memtrace::analysis
