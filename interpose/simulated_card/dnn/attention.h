// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_ATTENTION_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_ATTENTION_H_

#include <optional>
#include <vector>

#include "interpose/simulated_card/dnn/descriptor.h"
#include "interpose/simulated_card/dnn/sizes.h"

namespace memtrace::card {

// Returns the sizes of the attention that these operations of a graph compute, from the attention
// operation or from the first product, queries with keys. Returns nothing if they have no such
// tensors of four dimensions.
std::optional<AttentionShape> FindAttentionShape(
    const std::vector<DnnDescriptorPointer>& operations);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DNN_ATTENTION_H_
