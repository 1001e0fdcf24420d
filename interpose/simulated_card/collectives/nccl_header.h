// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_HEADER_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_HEADER_H_

// Include this and not <nccl.h>: its first inclusion decides if the functions that it declares are
// exported.
#pragma GCC visibility push(default)
#include <nccl.h>  // IWYU pragma: export
#pragma GCC visibility pop

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_HEADER_H_
