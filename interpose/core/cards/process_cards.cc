// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/process_cards.h"

#include <utility>

#include "base/status_macros.h"

namespace memtrace {
namespace {

std::unique_ptr<ObservedMemory> Observe(int device, memtrace_mode mode,
                                        AllocationObserver& observer) {
  return std::make_unique<ObservedMemory>(DeviceIndex{device}, observer,
                                          mode == MEMTRACE_MODE_OUTSIDE
                                              ? ObservedMemory::Caches::kNothing
                                              : ObservedMemory::Caches::kSegments);
}

}  // namespace

absl::Status ProcessCards::Open(int device_count, memtrace_mode mode, const HeapOptions& options,
                                AllocationObserver* observer) {
  std::vector<ServedCard> cards(static_cast<size_t>(device_count));
  for (int device = 0; device < device_count; ++device) {
    ServedCard& card = cards[static_cast<size_t>(device)];
    MEMTRACE_ASSIGN_OR_RETURN(auto opened, OpenCard(DeviceIndex{device}));
    card.driver = std::move(opened);
    card.reader = std::make_unique<CardReader>(device);
    card.is_alone = mode == MEMTRACE_MODE_OUTSIDE;
    if (mode == MEMTRACE_MODE_ALLOCATE) {
      HeapOptions of_card = options;
      of_card.device = DeviceIndex{device};
      of_card.captures = card.driver.captures;
      of_card.copies = card.driver.copies.get();
      card.allocator = std::make_unique<CachingAllocator>(of_card, *card.driver.vmm,
                                                          *card.driver.events, watch_);
    } else {
      card.observed = Observe(device, mode, *observer);
    }
  }
  const bool is_outside = mode == MEMTRACE_MODE_OUTSIDE;
  (is_outside ? outside_cards_ : cards_) = std::move(cards);
  if (cards_.size() == 1) only_.store(cards_[0].allocator.get(), std::memory_order_release);
  (is_outside ? outside_started_ : started_).store(true, std::memory_order_release);
  return absl::OkStatus();
}

ObservedMemory* ProcessCards::alone(int device) const {
  if (is_started() || !is_outside_started() || is_forked() || device < 0) return nullptr;
  const auto index = static_cast<size_t>(device);
  return index < outside_cards_.size() ? outside_cards_[index].observed.get() : nullptr;
}

CachingAllocator* ProcessCards::LookAndGet(int device) {
  LookOnFirstUse(device);
  CachingAllocator* found = allocator(device);
  const bool may_be_quick = device == 0 && !has_movable_.load();
  if (may_be_quick && found != nullptr && cards_[0].reader->has_looked()) {
    first_in_use_.store(found, std::memory_order_release);
    if (has_movable_.load()) first_in_use_.store(nullptr);  // also if it was set in between
  }
  return found;
}

void ProcessCards::LookNow(const ServedCard& card) {
  card.LookOnFirstUse();
  if (!card.reader->has_looked()) return;
  ledgers_.Sample(card);
  if (card.allocator != nullptr) on_first_use_(card.reader->device());
}

void ProcessCards::AbandonInForkedChild() {
  forked_ = started_.load() || outside_started_.load();
  only_ = nullptr;
  first_in_use_ = nullptr;
}

PlanUse ProcessCards::plan_use() const {
  PlanUse sum;
  for (const ServedCard& card : cards_) {
    const PlanUse use = card.allocator->accounts().plan_use();
    sum.placed += use.placed;
    sum.elsewhere += use.elsewhere;
  }
  return sum;
}

}  // namespace memtrace
