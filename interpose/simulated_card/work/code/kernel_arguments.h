// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNEL_ARGUMENTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNEL_ARGUMENTS_H_

#include <optional>
#include <vector>

#include "interpose/simulated_card/memory/address_ranges.h"
#include "interpose/simulated_card/work/code/code_image.h"

namespace memtrace::card {

// Returns each value among a kernel's arguments that could be the address of device memory,
// including those within structures; nothing if the arguments' size is not known.
//
// arguments and extra are those of cuLaunchKernel; either may be null. REQUIRES: they fit a kernel
// of these parameters, as cuda.h demands.
std::optional<std::vector<Address>> AddressesAmong(
    const std::optional<std::vector<CodeImage::Parameter>>& parameters, void* const* arguments,
    void* const* extra);

// Returns only those that are surely meant as addresses: in parameters that have nothing but
// addresses and nulls, such as a pointer, an array of pointers or a tensor map. (Two numbers of 4
// bytes may look like an address: a size of 8,192 after another number does.) Nothing if the
// parameters are not known.
std::vector<Address> PointersAmong(
    const std::optional<std::vector<CodeImage::Parameter>>& parameters, void* const* arguments,
    void* const* extra);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_CODE_KERNEL_ARGUMENTS_H_
