// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_HOST_LIMIT_H_
#define MEMTRACE_INTERPOSE_CORE_HOST_LIMIT_H_

#include "base/units.h"

namespace memtrace {

// Returns the most bytes of the host's memory that copies may take: MEMTRACE_HOST_LIMIT or, if it
// is not set, half of what the host has available now.
Bytes HostLimit();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_HOST_LIMIT_H_
