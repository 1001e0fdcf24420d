// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_KERNEL_ARGUMENTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_KERNEL_ARGUMENTS_H_

#include <optional>
#include <vector>

#include "interpose/simulated_card/memory/address_ranges.h"
#include "interpose/simulated_card/work/code_image.h"

namespace memtrace::card {

// Returns each value among a kernel's arguments that could be the address of device memory, also
// those within structures; nothing if it cannot be told how many bytes the arguments are.
//
// arguments and extra as cuLaunchKernel takes them; either may be null. REQUIRES: they are as
// cuda.h demands for a kernel of these parameters.
std::optional<std::vector<Address>> AddressesAmong(
    const std::optional<std::vector<CodeImage::Parameter>>& parameters, void* const* arguments,
    void* const* extra);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_KERNEL_ARGUMENTS_H_
