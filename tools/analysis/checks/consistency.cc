// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/checks/consistency.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "tools/analysis/source/address_range.h"

namespace memtrace::analysis {
namespace {

std::string Hex(uint64_t address) { return DeviceAddress{address}.ToString(); }

std::string Of(int32_t device, uint64_t address) {
  return absl::StrCat(Hex(address), " of card ", device);
}

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
  return goes_back ? "is of a moment before the event that it follows" : "";
}

std::string Consistency::Apply(const trace::Allocate& allocation) {
  Card& card = cards_[allocation.device];
  const uint64_t begin = allocation.address;
  const uint64_t end = EndOf(begin, std::max(allocation.allocated, allocation.requested));
  std::string wrong;
  if (card.has_maps && end > begin && !card.mapped.Covers(begin, end - begin))
    wrong = UnlessBlind(absl::StrCat("puts ", end - begin, " bytes at ",
                                     Of(allocation.device, begin), ", which is not all mapped"));
  auto other = card.blocks.lower_bound(end);
  while (other != card.blocks.begin() && std::prev(other)->second.end > begin) {
    --other;
    wrong =
        UnlessBlind(absl::StrCat("puts ", end - begin, " bytes at ", Of(allocation.device, begin),
                                 ", where the block at ", Hex(other->first), " still lives"));
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
    return UnlessBlind(
        absl::StrCat("frees ", Of(free.device, free.address), ", where no block lives"));
  if (std::exchange(block->second.waiting, true))
    return UnlessBlind(absl::StrCat("frees ", Of(free.device, free.address), " a second time"));
  return {};
}

std::string Consistency::Apply(const trace::FreeCompleted& free) {
  if (cards_[free.device].blocks.erase(free.address) != 0) return {};
  return UnlessBlind(
      absl::StrCat("ends the free of ", Of(free.device, free.address), ", where no block lives"));
}

std::string Consistency::Apply(const trace::Map& map) {
  Card& card = cards_[map.device];
  const uint64_t before = card.mapped.bytes();
  card.has_maps = card.has_maps || map.size != 0;
  card.mapped.Map(map.address, map.size);
  if (card.mapped.bytes() - before == map.size) return {};
  return UnlessBlind(absl::StrCat("maps ", map.size, " bytes at ", Of(map.device, map.address),
                                  ", some of which are mapped already"));
}

std::string Consistency::Apply(const trace::Unmap& unmap) {
  Card& card = cards_[unmap.device];
  const uint64_t before = card.mapped.bytes();
  card.mapped.Unmap(unmap.address, unmap.size);
  const auto block = card.blocks.lower_bound(EndOf(unmap.address, unmap.size));
  if (block != card.blocks.begin() && std::prev(block)->second.end > unmap.address)
    return UnlessBlind(absl::StrCat("unmaps ", unmap.size, " bytes at ",
                                    Of(unmap.device, unmap.address), ", where the block at ",
                                    Hex(std::prev(block)->first), " lives"));
  if (before - card.mapped.bytes() == unmap.size) return {};
  return UnlessBlind(absl::StrCat("unmaps ", unmap.size, " bytes at ",
                                  Of(unmap.device, unmap.address),
                                  ", some of which are not mapped"));
}

std::string Consistency::CheckLedger(const trace::CardLedger& ledger) {
  const Card& card = cards_[ledger.device];
  if (!card.has_maps || ledger.reserved == 0 || ledger.reserved == card.mapped.bytes()) return {};
  return UnlessBlind(absl::StrCat("says that ", ledger.reserved, " bytes of card ", ledger.device,
                                  " are reserved, where ", card.mapped.bytes(), " are mapped"));
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
  return UnlessBlind(absl::StrCat("takes ", Of(taken.device, taken.address),
                                  " from the driver, which was not given back"));
}

std::string Consistency::Apply(const trace::OutsideFree& back) {
  if (outside_.erase({back.kind, back.address}) != 0) return {};
  return UnlessBlind(absl::StrCat("gives ", Of(back.device, back.address),
                                  " back to the driver, which was not taken"));
}

std::string Consistency::Apply(const trace::Lost& lost) {
  is_blind_ = is_blind_ || lost.events != 0;
  return {};
}

}  // namespace memtrace::analysis
