// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_HEADER_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_HEADER_H_

// Include this and not <cudnn.h>: exporting the functions that it declares is a matter of how it is
// included first.
#pragma GCC visibility push(default)
#include <cudnn.h>  // IWYU pragma: export
#pragma GCC visibility pop

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_HEADER_H_
