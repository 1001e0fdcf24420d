// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/communicator_shape.h"

#include <algorithm>
#include <bit>

#include "interpose/simulated_card/collectives/nccl_versions.h"

namespace memtrace::card {
namespace {

constexpr int kA100 = 80;
constexpr int kHopper = 90;
constexpr int kBlackwell = 100;

int PowerOfTwoFrom(int number) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(number)));
}

// std::clamp needs bounds in order; as in NCCL, the upper one wins.
int Within(int number, int fewest, int most) { return std::min(std::max(number, fewest), most); }

int SwitchChannels(const Neighbours& neighbours, const NcclOptions& options, int version,
                   const RankPlace& place) {
  const int fewest_ranks = version >= kVersion2289 ? 2 : 3;
  const bool is_used = neighbours.link == CardLink::kNvlink && options.uses_switch &&
                       options.has_own_pieces && options.uses_peers &&
                       place.ranks_here >= fewest_ranks && neighbours.compute_capability >= kHopper;
  if (!is_used) return 0;
  if (neighbours.compute_capability < kBlackwell) return 16;
  return version >= kVersion227 && place.machines == 1 ? 24 : 32;
}

// Assumed: each card linked by NVLink has a network adapter of its own, of 400 Gbit/s from Hopper
// on, of 200 before; other machines have one.
int NetworkChannels(const Neighbours& neighbours, int cards) {
  if (neighbours.link != CardLink::kNvlink) return 2;
  constexpr int kMostFound = 16;
  return std::min(kMostFound, (neighbours.compute_capability >= kHopper ? 4 : 2) * cards);
}

// NCCL's ncclTopoGetNchannels: a peer in another machine lowers the number for all peers.
int ChannelsPerPeer(const Neighbours& neighbours, const RankPlace& place, int peer_channels) {
  if (place.machines == 1 && neighbours.link == CardLink::kNvlink) return peer_channels;
  const bool are_many = place.machines > 1 && 2 * place.ranks > 4 * peer_channels;
  return std::min(are_many ? 1 : 2, peer_channels);
}

}  // namespace

CommunicatorShape ShapeOf(const Neighbours& neighbours, const NcclOptions& options, int version,
                          const RankPlace& place) {
  CommunicatorShape shape = {.version = version, .place = place, .options = options};
  const int most = version >= kVersion225 ? 64 : 32;
  const int found = place.ranks == 1     ? most
                    : place.machines > 1 ? NetworkChannels(neighbours, place.ranks_here)
                                         : neighbours.channels;
  shape.collective_channels = Within(found, options.fewest_channels, options.most_channels);
  shape.collective_channels = std::min(shape.collective_channels, most);
  shape.peer_channels = PowerOfTwoFrom(
      Within(shape.collective_channels, options.fewest_peer_channels, options.most_peer_channels));
  shape.peer_channels = std::min(shape.peer_channels, most);
  const bool by_nvlink = neighbours.link == CardLink::kNvlink;
  shape.channels_per_peer = ChannelsPerPeer(neighbours, place, shape.peer_channels);
  shape.is_fast = place.machines == 1 && (by_nvlink || place.ranks == 1);
  shape.has_rdma = by_nvlink && options.allows_rdma;
  shape.has_peers = neighbours.link != CardLink::kHost && options.uses_peers;
  shape.reads = options.peers_read.value_or(by_nvlink && neighbours.compute_capability == kA100);
  shape.switch_channels = SwitchChannels(neighbours, options, version, place);
  shape.is_early = version < kVersion222 || !options.has_own_pieces || !options.connects_on_use;
  return shape;
}

}  // namespace memtrace::card
