// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CUDA_OPEN_CARD_H_
#define MEMTRACE_ALLOCATOR_CUDA_OPEN_CARD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "allocator/card/capture_graphs.h"
#include "allocator/card/stream_events.h"
#include "allocator/card/vmm.h"
#include "base/units.h"

namespace memtrace {

// What an allocator needs of a card, by the CUDA driver; for those who must not see <cuda.h>.
struct OpenedCard {
  std::unique_ptr<Vmm> vmm;
  std::unique_ptr<StreamEvents> events;
  CaptureGraphs* captures = nullptr;  // part of `events`
};

// The card's primary context is created by the first call that needs it. kUnavailable without a
// driver, kUnimplemented if the card cannot map memory.
absl::StatusOr<OpenedCard> OpenCard(DeviceIndex device);

// Whether this process has a context on the card, so that asking it costs nothing.
bool HasContext(DeviceIndex device);

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CUDA_OPEN_CARD_H_
