// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/taking_turns.h"

#include <algorithm>
#include <utility>

#include "allocator/pools/pools.h"
#include "allocator/pools/segment_groups.h"

namespace memtrace {

TakingTurns::Shared TakingTurns::Begin(const SegmentGroups& groups,
                                       const std::vector<Pool*>& pools) {
  std::vector<Member> members;
  members.reserve(pools.size());
  for (Pool* pool : pools) members.push_back(MemberOf(groups, pool));
  const auto lender =
      std::max_element(members.begin(), members.end(),
                       [](const Member& a, const Member& b) { return a.bytes < b.bytes; });
  Shared shared;
  if (lender == members.end()) return shared;
  std::vector<Offer> offers = OffersOf(*lender);
  for (auto member = members.begin(); member != members.end(); ++member) {
    if (member == lender) continue;
    shared.saved += BorrowFor(*member, offers);
    shared.is_lost |= member->pool->has_lost_memory;
  }
  for (Offer& offer : offers) {
    if (offer.borrowed.empty()) continue;
    Places places{{offer.segment, lender->pool, offer.segment->turns().Lend(offer.chunk)}};
    places.insert(places.end(), offer.borrowed.begin(), offer.borrowed.end());
    chunks_.push_back(std::move(places));
  }
  return shared;
}

TakingTurns::Member TakingTurns::MemberOf(const SegmentGroups& groups, Pool* pool) {
  Member member{.pool = pool, .runs = {}, .bytes = 0};
  for (const auto& group : groups.all()) {
    if (group->pool() != pool || group->key().is_movable() || pool->has_fixed_segments()) continue;
    for (const auto& segment : group->segments().all()) {
      for (const AddressRange& range : segment->turns().Available()) {
        member.runs.push_back({segment.get(), range});
        member.bytes += range.size();
      }
    }
  }
  return member;
}

// The largest come first, so that small ones fill what is left.
std::vector<TakingTurns::Offer> TakingTurns::OffersOf(const Member& lender) {
  std::vector<Offer> offers;
  for (const Run& run : lender.runs) {
    for (const MappedChunk& chunk : run.segment->reservation().chunks().Under(run.range))
      offers.push_back({run.segment, AddressRange::Of(chunk.address, chunk.size), {}});
  }
  std::stable_sort(offers.begin(), offers.end(),
                   [](const Offer& a, const Offer& b) { return a.chunk.size() > b.chunk.size(); });
  return offers;
}

// Each chunk goes to the first range that has room for it, at most once in a pool.
Bytes TakingTurns::BorrowFor(const Member& member, std::vector<Offer>& offers) {
  std::vector<std::vector<Offer*>> chosen(member.runs.size());
  std::vector<Bytes> left;
  left.reserve(member.runs.size());
  for (const Run& run : member.runs) left.push_back(run.range.size());
  for (Offer& offer : offers) {
    const auto fits = std::find_if(left.begin(), left.end(),
                                   [&](Bytes room) { return room >= offer.chunk.size(); });
    if (fits == left.end()) continue;
    *fits -= offer.chunk.size();
    chosen[static_cast<size_t>(fits - left.begin())].push_back(&offer);
  }
  Bytes saved = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i].empty()) saved += Exchange(member, member.runs[i], chosen[i]);
  }
  return saved;
}

Bytes TakingTurns::Exchange(const Member& member, const Run& run, std::vector<Offer*>& chosen) {
  std::vector<SegmentTurns::Piece> pieces;
  DeviceAddress at = run.range.begin;
  for (const Offer* offer : chosen) {
    const auto handle = offer->segment->turns().Retain(offer->chunk);
    if (!handle.ok()) break;
    pieces.push_back({AddressRange::Of(at, offer->chunk.size()), *handle});
    at += offer->chunk.size();
  }
  if (pieces.empty()) return 0;
  const Bytes before = run.segment->reservation().mapped();
  const auto exchanged = run.segment->turns().Exchange(run.range.begin, pieces);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (exchanged.borrowed[i] == nullptr) continue;
    chosen[i]->borrowed.push_back({run.segment, member.pool, exchanged.borrowed[i]});
  }
  member.pool->has_lost_memory |= exchanged.is_lost;
  return before - run.segment->reservation().mapped();
}

bool TakingTurns::HasEnded() const {
  return std::any_of(chunks_.begin(), chunks_.end(), [](const Places& places) {
    return std::any_of(places.begin(), places.end(),
                       [](const Place& place) { return !place.pool->pinned(); });
  });
}

void TakingTurns::EndUnused() { std::erase_if(chunks_, End); }

// Takes the places in pools without users out. Returns true if the chunk is no longer shared.
bool TakingTurns::End(Places& places) {
  std::erase_if(places, [&](const Place& place) {
    const bool is_lent = &place == &places.front();
    return !is_lent && !place.pool->pinned() && place.segment->turns().GiveBack(place.block).ok();
  });
  Place& lender = places.front();
  const bool has_heir = places.size() > 1;
  if (!lender.pool->pinned() && has_heir && lender.segment->turns().EndLending(lender.block).ok()) {
    places.erase(places.begin());
    places.front().block = places.front().segment->turns().Inherit(places.front().block);
  }
  if (places.size() > 1) return false;
  places.front().segment->turns().StopLending(places.front().block);
  return true;
}

}  // namespace memtrace
