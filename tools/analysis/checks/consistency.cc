// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/checks/consistency.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "base/units.h"
#include "messages/message.h"
#include "tools/analysis/source/address_range.h"

namespace memtrace::analysis {
namespace {

std::string Hex(uint64_t address) { return DeviceAddress{address}.ToString(); }

}  // namespace

std::string Consistency::Apply(const trace::Event& event) {
  std::string wrong = CheckOrder(event);
  std::string what =
      std::visit([this](const auto& payload) { return Apply(payload); }, event.payload);
  return wrong.empty() ? what : wrong;
}

// An event that a checkpoint restates has the moment of the checkpoint.
std::string Consistency::CheckOrder(const trace::Event& event) {
  const bool goes_back = event.sequence < sequence_ || event.time_ns < time_ns_;
  sequence_ = std::max(sequence_, event.sequence);
  time_ns_ = std::max(time_ns_, event.time_ns);
  return goes_back ? Message("it is older than an event before it") : "";
}

std::string Consistency::Apply(const trace::Allocate& allocation) {
  Card& card = cards_[allocation.device];
  const uint64_t begin = allocation.address;
  const uint64_t end = EndOf(begin, std::max(allocation.allocated, allocation.requested));
  std::string wrong;
  if (card.has_maps && end > begin && !card.mapped.Covers(begin, end - begin))
    wrong = UnlessBlind(Message("it allocates $0 bytes at $1 of card $2, which are not all mapped",
                                end - begin, Hex(begin), allocation.device));
  auto other = card.blocks.lower_bound(end);
  while (other != card.blocks.begin() && std::prev(other)->second.end > begin) {
    --other;
    wrong = UnlessBlind(
        Message("it allocates $0 bytes at $1 of card $2, where the block at $3 is still in use",
                end - begin, Hex(begin), allocation.device, Hex(other->first)));
    other = card.blocks.erase(other);
  }
  card.blocks[begin] = {.end = end};
  return wrong;
}

std::string Consistency::Apply(const trace::Alive& alive) {
  std::string wrong = Apply(alive.block);
  cards_[alive.block.device].blocks[alive.block.address].waiting = alive.waiting != 0;
  return wrong;
}

std::string Consistency::Apply(const trace::FreeRequested& free) {
  auto& blocks = cards_[free.device].blocks;
  const auto block = blocks.find(free.address);
  if (block == blocks.end())
    return UnlessBlind(Message("it frees $0 of card $1, where no block is in use",
                               Hex(free.address), free.device));
  if (std::exchange(block->second.waiting, true))
    return UnlessBlind(
        Message("it frees $0 of card $1 a second time", Hex(free.address), free.device));
  return {};
}

std::string Consistency::Apply(const trace::FreeCompleted& free) {
  if (cards_[free.device].blocks.erase(free.address) != 0) return {};
  return UnlessBlind(Message("it completes the free of $0 of card $1, where no block is in use",
                             Hex(free.address), free.device));
}

std::string Consistency::Apply(const trace::Map& map) {
  Card& card = cards_[map.device];
  const uint64_t before = card.mapped.bytes();
  card.has_maps = card.has_maps || map.size != 0;
  card.mapped.Map(map.address, map.size);
  if (card.mapped.bytes() - before == map.size) return {};
  return UnlessBlind(Message("it maps $0 bytes at $1 of card $2, some of which are already mapped",
                             map.size, Hex(map.address), map.device));
}

std::string Consistency::Apply(const trace::Unmap& unmap) {
  Card& card = cards_[unmap.device];
  const uint64_t before = card.mapped.bytes();
  card.mapped.Unmap(unmap.address, unmap.size);
  const auto block = card.blocks.lower_bound(EndOf(unmap.address, unmap.size));
  if (block != card.blocks.begin() && std::prev(block)->second.end > unmap.address)
    return UnlessBlind(
        Message("it unmaps $0 bytes at $1 of card $2, where the block at $3 is in use", unmap.size,
                Hex(unmap.address), unmap.device, Hex(std::prev(block)->first)));
  if (before - card.mapped.bytes() == unmap.size) return {};
  return UnlessBlind(Message("it unmaps $0 bytes at $1 of card $2, some of which are not mapped",
                             unmap.size, Hex(unmap.address), unmap.device));
}

std::string Consistency::CheckLedger(const trace::CardLedger& ledger) {
  const Card& card = cards_[ledger.device];
  if (!card.has_maps || ledger.reserved == 0 || ledger.reserved == card.mapped.bytes()) return {};
  return UnlessBlind(Message("it says that $0 bytes of card $1 are reserved, but $2 are mapped",
                             ledger.reserved, ledger.device, card.mapped.bytes()));
}

std::string Consistency::Apply(const trace::CardSample& sample) { return CheckLedger(sample.card); }

std::string Consistency::Apply(const trace::OutOfMemory& failed) {
  std::string wrong;
  for (const trace::CardLedger& ledger : failed.cards) {
    std::string clause = CheckLedger(ledger);
    if (wrong.empty()) wrong = std::move(clause);
  }
  return wrong;
}

std::string Consistency::Apply(const trace::OutsideAllocate& taken) {
  const bool is_new = outside_.insert_or_assign({taken.kind, taken.address}, taken.bytes).second;
  if (is_new) return {};
  return UnlessBlind(Message("it takes $0 of card $1 from the driver, but that is taken already",
                             Hex(taken.address), taken.device));
}

std::string Consistency::Apply(const trace::OutsideFree& back) {
  if (outside_.erase({back.kind, back.address}) != 0) return {};
  return UnlessBlind(Message("it gives $0 of card $1 back to the driver, but that was not taken",
                             Hex(back.address), back.device));
}

std::string Consistency::Apply(const trace::Lost& lost) {
  is_blind_ = is_blind_ || lost.events != 0;
  return {};
}

}  // namespace memtrace::analysis
