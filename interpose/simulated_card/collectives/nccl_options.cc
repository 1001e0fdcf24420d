// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/nccl_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/environment.h"

namespace memtrace::card {
namespace {

// Returns nothing if the variable is not set or is no number. NCCL's -2 means its own choice.
std::optional<std::int64_t> Number(const char* variable) {
  const std::string_view text = env::Text(env::Variable(variable));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() || number == -2) return std::nullopt;
  return number;
}

void Set(const char* variable, bool* option) {
  if (const auto number = Number(variable)) *option = *number != 0;
}

// True unless the network is said to be sockets, or to stay away from the card's memory.
bool AllowsRdma() {
  const std::string_view level = env::Text(env::Variable("NCCL_NET_GDR_LEVEL"));
  return Number("NCCL_IB_DISABLE").value_or(0) == 0 &&
         env::Text(env::Variable("NCCL_NET")) != "Socket" && level != "0" && level != "LOC";
}

void SetSize(const char* variable, std::uint64_t* option) {
  if (const auto number = Number(variable); number && *number > 0)
    *option = static_cast<std::uint64_t>(*number);
}

void Raise(std::optional<std::int64_t> number, int* fewest) {
  if (number && *number > 0) *fewest = std::max(*fewest, static_cast<int>(*number));
}

void Lower(std::optional<std::int64_t> number, int* most) {
  if (number && *number > 0) *most = std::min(*most, static_cast<int>(*number));
}

}  // namespace

NcclOptions ReadNcclOptions() {
  NcclOptions options;
  Set("NCCL_CUMEM_ENABLE", &options.has_own_pieces);
  Set("NCCL_RUNTIME_CONNECT", &options.connects_on_use);
  Set("NCCL_NVLS_ENABLE", &options.uses_switch);
  bool has_no_peers = false;
  Set("NCCL_P2P_DISABLE", &has_no_peers);
  options.uses_peers = !has_no_peers;
  options.allows_rdma = AllowsRdma();
  Set("NCCL_CUMEM_HOST_ENABLE", &options.has_host_pieces);
  if (const auto reads = Number("NCCL_P2P_READ_ENABLE")) options.peers_read = *reads != 0;
  Raise(Number("NCCL_MIN_NCHANNELS"), &options.fewest_channels);
  Raise(Number("NCCL_MIN_CTAS"), &options.fewest_channels);
  Lower(Number("NCCL_MAX_NCHANNELS"), &options.most_channels);
  Lower(Number("NCCL_MAX_CTAS"), &options.most_channels);
  Raise(Number("NCCL_MIN_P2P_NCHANNELS"), &options.fewest_peer_channels);
  Lower(Number("NCCL_MAX_P2P_NCHANNELS"), &options.most_peer_channels);
  SetSize("NCCL_BUFFSIZE", &options.simple_buffer);
  SetSize("NCCL_LL_BUFFSIZE", &options.low_latency_buffer);
  SetSize("NCCL_LL128_BUFFSIZE", &options.low_latency_128_buffer);
  SetSize("NCCL_WORK_FIFO_BYTES", &options.work_queue);
  options.algorithms = std::string(env::Text(env::Variable("NCCL_ALGO")));
  for (char& c : options.algorithms)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return options;
}

void AddConfig(const ncclConfig_t* config, NcclOptions* options) {
  if (config == nullptr) return;
  const auto stated = [](int value) {
    return value == NCCL_CONFIG_UNDEF_INT ? std::optional<std::int64_t>() : value;
  };
  Raise(stated(config->minCTAs), &options->fewest_channels);
  Lower(stated(config->maxCTAs), &options->most_channels);
  options->shares_parent = config->splitShare == 1;
}

}  // namespace memtrace::card
