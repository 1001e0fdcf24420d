// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MEMPOOL_ID_H_
#define MEMTRACE_INTERPOSE_TORCH_MEMPOOL_ID_H_

#include <utility>

namespace memtrace::shim {

// torch's type, which moved from c10::cuda to c10 in 2.9.
using MempoolId_t = std::pair<unsigned long long, unsigned long long>;

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_MEMPOOL_ID_H_
