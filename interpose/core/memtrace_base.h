/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Definitions that the parts of memtrace.h share.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_BASE_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_BASE_H_

#include <stddef.h>
#include <stdint.h>

#define MEMTRACE_API __attribute__((visibility("default")))
#define MEMTRACE_ABI_VERSION 1

/* A private pool (torch's MempoolId_t); {0, 0} is the default one. */
struct memtrace_pool {
  uint64_t first, second;
};

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_BASE_H_ */
