// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_LINK_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_LINK_H_

namespace memtrace::card {

// How NCCL reaches another card of the machine: through memory of the host, by PCIe, or by NVLink.
enum class CardLink { kHost, kPcie, kNvlink };

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_INTERFACE_CARD_LINK_H_
