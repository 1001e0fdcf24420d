// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/request.h"

#include <algorithm>

#include "tools/analysis/role_inference.h"

namespace memtrace::analysis {

Request DescribeRequest(const FailedRequest& failed, uint64_t number, const EventSource& source,
                        SiteNames& sites) {
  const trace::OutOfMemory& event = failed.event;
  Request request;
  request.bytes = event.requested;
  request.obtainable = event.obtainable;
  request.limit = event.limit;
  request.owner = event.owner == 0 ? "(none)" : std::string(source.String(event.owner));
  request.stack = source.Stack(event.stack);
  request.role = InferRequestRole(failed.at, request.stack);
  if (request.role != trace::Role::kUnknown)
    request.evidence = std::min(Evidence::kPhase, source.best_evidence());
  request.site =
      sites.Name(sites.Site(request.role, 0, event.module, event.stack, failed.at.phase));
  request.at = failed.at;
  request.number = number;
  return request;
}

}  // namespace memtrace::analysis
