// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/communicator_shape.h"

#include <algorithm>
#include <bit>

namespace memtrace::card {
namespace {

constexpr int kA100 = 80;
constexpr int kHopper = 90;
constexpr int kBlackwell = 100;
constexpr int kVersion222 = 22200;  // connects on use; reserves the switch's memory by its channels
constexpr int kVersion225 = 22500;  // up to 64 channels
constexpr int kVersion227 = 22700;  // another number of the switch's channels on Blackwell
constexpr int kVersion2289 = 22809;  // uses the switch for two ranks

int PowerOfTwoFrom(int number) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(number)));
}

// std::clamp needs bounds in order; as in NCCL, the upper one wins.
int Within(int number, int fewest, int most) { return std::min(std::max(number, fewest), most); }

int SwitchChannels(const Neighbours& neighbours, const NcclOptions& options, int version,
                   int ranks) {
  const int fewest_ranks = version >= kVersion2289 ? 2 : 3;
  const bool is_used = neighbours.link == CardLink::kNvlink && options.uses_switch &&
                       options.has_own_pieces && options.uses_peers && ranks >= fewest_ranks &&
                       neighbours.compute_capability >= kHopper;
  if (!is_used) return 0;
  if (neighbours.compute_capability < kBlackwell) return 16;
  return version >= kVersion227 ? 24 : 32;
}

}  // namespace

CommunicatorShape ShapeOf(const Neighbours& neighbours, const NcclOptions& options, int version,
                          int ranks, int rank) {
  CommunicatorShape shape = {.version = version, .ranks = ranks, .rank = rank, .options = options};
  const int most = version >= kVersion225 ? 64 : 32;
  const int found = ranks == 1 ? most : neighbours.channels;
  shape.collective_channels = Within(found, options.fewest_channels, options.most_channels);
  shape.collective_channels = std::min(shape.collective_channels, most);
  shape.peer_channels = PowerOfTwoFrom(
      Within(shape.collective_channels, options.fewest_peer_channels, options.most_peer_channels));
  shape.peer_channels = std::min(shape.peer_channels, most);
  const bool by_nvlink = neighbours.link == CardLink::kNvlink;
  shape.channels_per_peer = by_nvlink ? shape.peer_channels : std::min(2, shape.peer_channels);
  shape.is_fast = by_nvlink || ranks == 1;
  shape.has_peers = neighbours.link != CardLink::kHost && options.uses_peers;
  shape.reads = options.peers_read.value_or(by_nvlink && neighbours.compute_capability == kA100);
  shape.switch_channels = SwitchChannels(neighbours, options, version, ranks);
  shape.is_early = version < kVersion222 || !options.has_own_pieces || !options.connects_on_use;
  return shape;
}

}  // namespace memtrace::card
