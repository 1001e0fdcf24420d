// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CUDA_OPEN_CARD_H_
#define MEMTRACE_ALLOCATOR_CUDA_OPEN_CARD_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "allocator/card/capture_graphs.h"
#include "allocator/card/chunk_copies.h"
#include "allocator/card/stream_events.h"
#include "allocator/card/vmm.h"
#include "base/units.h"

namespace memtrace {

// The parts of a card that an allocator needs, for callers that must not include <cuda.h>.
struct OpenedCard {
  std::unique_ptr<Vmm> vmm;
  std::unique_ptr<StreamEvents> events;
  CaptureGraphs* captures = nullptr;  // part of `events`
  std::unique_ptr<ChunkCopies> copies;
};

// Opens a card with the CUDA driver. Its primary context is created by the first call that needs
// it. kUnavailable without a driver, kUnimplemented if the card cannot map memory.
absl::StatusOr<OpenedCard> OpenCard(DeviceIndex device);

// Identifies a card, or a part of one that is divided (MIG), among those of all machines.
using CardUuid = std::array<uint8_t, 16>;
absl::StatusOr<CardUuid> UuidOf(DeviceIndex device);

// True if this thread is in a call of the driver that a card's allocator makes, so that it holds
// the card's lock.
bool IsInDriverCall();

// True if this process already has a context on the card, so that querying the card costs nothing.
bool HasContext(DeviceIndex device);

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CUDA_OPEN_CARD_H_
