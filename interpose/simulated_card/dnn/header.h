// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_HEADER_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_HEADER_H_

// Include this and not <cudnn.h>: its first inclusion decides if the functions that it declares are
// exported.
#pragma GCC visibility push(default)
#include <cudnn.h>  // IWYU pragma: export
#pragma GCC visibility pop

namespace memtrace::card {

// Operations of cuDNN 9.20, which the headers of older ones do not name (cudnn_graph_v9.h).
inline constexpr auto kDiagonalBandMask = static_cast<cudnnBackendDescriptorType_t>(44);
inline constexpr auto kSoftmax = static_cast<cudnnBackendDescriptorType_t>(45);
// The last type of attributes, which is a kind of reshape of cuDNN 9.22.
inline constexpr int kLastAttributeType = 31;

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_HEADER_H_
