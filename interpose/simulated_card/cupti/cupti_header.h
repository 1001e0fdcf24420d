// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_HEADER_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_HEADER_H_

// NVIDIA's declarations of the functions that our libcupti exports.
#pragma GCC visibility push(default)
#include <cupti.h>  // IWYU pragma: export
#pragma GCC visibility pop

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_CUPTI_HEADER_H_
