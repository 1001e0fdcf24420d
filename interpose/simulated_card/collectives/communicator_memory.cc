// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/communicator_memory.h"

#include <array>
#include <map>
#include <utility>

#include "base/units.h"
#include "interpose/simulated_card/collectives/thread_card.h"
#include "interpose/simulated_card/interface/library_memory.h"

namespace memtrace::card {
namespace {

// NCCL's kernels take this of a card, once in a process, with the first communicator: measured on
// an H100 with NCCL 2.28.9 (nccl_growth.json), less the memory of side streams, which the card
// charges itself. On other generations nothing was measured.
constexpr std::array<std::size_t, 1> kKernels = {std::size_t{106} << 20};

// Takes it of the current card. Kernels stay until the process ends, whatever becomes of
// communicators. Returns false if the card has no room.
bool LoadKernels(int device) {
  static Mutex mutex;
  static auto* loaded = new std::map<int, LibraryMemory>;  // never destroyed: used until the end
  const MutexLock lock(mutex);
  const auto [kernels, is_new] = loaded->try_emplace(device);
  if (!is_new || kernels->second.Take(kKernels)) return true;
  loaded->erase(kernels);
  return false;
}

bool IsWithEachPeer(std::string_view call) {
  return call == "ncclAlltoAll" || call == "ncclGather" || call == "ncclScatter";
}

// Lets the thread allocate while it captures, as NCCL does.
class RelaxedCapture {
 public:
  RelaxedCapture() { cuThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cuThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // then the one before
};

}  // namespace

std::unique_ptr<CommunicatorMemory> CommunicatorMemory::Take(int device, const NcclOptions& options,
                                                             int version,
                                                             const RankMachines& machines,
                                                             int rank) {
  memtrace_card_neighbours described = {};
  memtrace_card_describe_neighbours(device, &described);
  const Neighbours neighbours = {.link = static_cast<CardLink>(described.link),
                                 .channels = described.nccl_channels,
                                 .compute_capability = described.compute_capability};
  const OnCard card(device);
  std::unique_ptr<CommunicatorMemory> memory(new CommunicatorMemory(
      device, ShapeOf(neighbours, options, version, machines.PlaceOf(rank)), machines, rank));
  if (described.states_bytes && machines.ranks() > 1) memory->stated_ = described.bytes;
  const bool has_room = LoadKernels(device) && memory->Start();
  return has_room ? std::move(memory) : nullptr;
}

CommunicatorMemory::~CommunicatorMemory() {
  const memtrace_card_nccl_bytes back = {.charged = -told_.charged,
                                         .least = -told_.least,
                                         .most = -told_.most,
                                         .communicators = -told_.communicators,
                                         .host = -told_.host};
  memtrace_card_count_nccl(device_, &back);
  if (handles_.empty() && addresses_.empty()) return;
  const OnCard card(device_);
  for (const CUmemGenericAllocationHandle handle : handles_) cuMemRelease(handle);
  for (const CUdeviceptr address : addresses_) cuMemFree(address);
}

bool CommunicatorMemory::Start() {
  const MutexLock lock(mutex_);
  bool has_room = true;
  if (stated_) {
    has_room = TakeOwn(*stated_);
  } else {
    has_room = TakeAll(PiecesAtStart(shape_)) &&
               (!shape_.is_early || TakeAll(PiecesOfEarlyConnections(shape_)));
  }
  Tell();
  return has_room;
}

bool CommunicatorMemory::Connect(std::string_view call, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (stated_) return true;
  if (IsWithEachPeer(call)) {
    bool has_room = true;
    for (int peer = 0; peer < machines_.ranks() && has_room; ++peer) has_room = ConnectOne(peer);
    return has_room;
  }
  if (shape_.is_early) return true;
  const NcclWay way = WayOf(call, bytes, shape_);
  return !ways_.insert(way).second || TakeMore(PiecesOf(way, shape_));
}

bool CommunicatorMemory::ConnectPeer(int peer) {
  const MutexLock lock(mutex_);
  return stated_ || ConnectOne(peer);
}

bool CommunicatorMemory::KeepCapturedLaunch() {
  const MutexLock lock(mutex_);
  return stated_ || TakeMore(PiecesOfCapturedLaunch(shape_));
}

bool CommunicatorMemory::ConnectOne(int peer) {
  if (peer == rank_ || !peers_.insert(peer).second) return true;
  return machines_.AreTogether(peer, rank_) ? TakeMore(PiecesOf(NcclWay::kPeer, shape_))
                                            : ConnectOverNetwork();
}

bool CommunicatorMemory::ConnectOverNetwork() {
  const bool needs_pool = !std::exchange(has_network_pool_, true);
  if (needs_pool && !TakeMore(PiecesOf(NcclWay::kNetworkPool, shape_))) return false;
  return TakeMore(PiecesOf(NcclWay::kNetworkPeer, shape_));
}

bool CommunicatorMemory::TakeMore(const NcclPieceList& pieces) {
  const OnCard card(device_);
  const bool has_room = TakeAll(pieces);
  Tell();
  return has_room;
}

// Which of ring, tree and switch a collective uses is assumed; all else is NCCL's rule.
memtrace_card_nccl_bytes CommunicatorMemory::Bounds() const {
  memtrace_card_nccl_bytes bounds = {};
  bounds.charged = static_cast<std::int64_t>(taken_);
  bounds.least = bounds.most = bounds.charged;
  bounds.communicators = machines_.ranks() > 1 ? 1 : 0;
  bounds.host = static_cast<std::int64_t>(host_);
  if (ways_.empty()) return bounds;
  for (const NcclWay way : {NcclWay::kRing, NcclWay::kTree, NcclWay::kSwitch}) {
    const auto bytes = static_cast<std::int64_t>(BytesOf(PiecesOf(way, shape_)));
    const bool is_taken = ways_.contains(way);
    if (is_taken && way != NcclWay::kRing) bounds.least -= bytes;
    if (!is_taken) bounds.most += bytes;
  }
  return bounds;
}

void CommunicatorMemory::Tell() {
  const memtrace_card_nccl_bytes now = Bounds();
  const memtrace_card_nccl_bytes more = {.charged = now.charged - told_.charged,
                                         .least = now.least - told_.least,
                                         .most = now.most - told_.most,
                                         .communicators = now.communicators - told_.communicators,
                                         .host = now.host - told_.host};
  memtrace_card_count_nccl(device_, &more);
  told_ = now;
}

// One handle stands for all allocations that NCCL would make, each rounded by itself.
bool CommunicatorMemory::TakeAll(const NcclPieceList& pieces) {
  const RelaxedCapture relaxed;
  host_ += HostBytesOf(pieces);
  if (shape_.options.has_own_pieces) return TakeOwn(BytesOf(pieces));
  for (const NcclPieces& piece : pieces) {
    if (piece.is_on_host) continue;
    for (std::uint64_t i = 0; i < piece.count; ++i) {
      if (!TakeShared(piece.bytes)) return false;
    }
  }
  return true;
}

bool CommunicatorMemory::TakeOwn(std::uint64_t bytes) {
  if (bytes == 0) return true;
  CUmemAllocationProp wanted = {};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_};
  std::size_t granule = 0;
  CUmemGenericAllocationHandle handle = 0;
  if (cuMemGetAllocationGranularity(&granule, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM) !=
      CUDA_SUCCESS)
    return false;
  const std::uint64_t rounded = RoundUp(bytes, granule);
  if (cuMemCreate(&handle, rounded, &wanted, 0) != CUDA_SUCCESS) return false;
  handles_.push_back(handle);
  taken_ += rounded;
  return true;
}

bool CommunicatorMemory::TakeShared(std::uint64_t bytes) {
  CUdeviceptr address = 0;
  if (cuMemAlloc(&address, bytes) != CUDA_SUCCESS) return false;
  addresses_.push_back(address);
  taken_ += bytes;
  return true;
}

}  // namespace memtrace::card
