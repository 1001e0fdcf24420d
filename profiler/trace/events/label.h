// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_LABEL_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_LABEL_H_

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// The statements about a range of bytes. An empty field (kUnknown, 0) states nothing.
struct Label {
  Role role = Role::kUnknown;
  StringId owner = 0;
  StringId path = 0;

  // Applies a later label: each of its fields that is not empty replaces ours.
  void Restate(const Label& latest) {
    if (latest.role != Role::kUnknown) role = latest.role;
    if (latest.owner != 0) owner = latest.owner;
    if (latest.path != 0) path = latest.path;
  }

  friend bool operator==(const Label&, const Label&) = default;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_LABEL_H_
