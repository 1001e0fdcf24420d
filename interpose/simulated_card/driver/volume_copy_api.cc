// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Copies in two and three dimensions, row by row.
#include "interpose/simulated_card/driver/copies.h"
#include "interpose/simulated_card/driver/telling.h"
#include "interpose/simulated_card/memory/volume_copy.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Calls visit(to, from) for each row until it fails.
template <typename Visit>
Result ForEachRow(const VolumeCopy& copy, Visit visit) {
  Result result = Result::kSuccess;
  for (std::uint64_t slice = 0; slice < copy.depth; ++slice) {
    for (std::uint64_t row = 0; row < copy.height && result == Result::kSuccess; ++row)
      result = visit(RowOf(copy.to, row, slice), RowOf(copy.from, row, slice));
  }
  return result;
}

// Copies all rows or none.
Result MoveRows(Machine& machine, const Work& work, const VolumeCopy& copy, const char* call) {
  const Result found = ForEachRow(copy, [&](Address to, Address from) {
    const Result result = machine.copies.Check(to, from, copy.width);
    if (result != Result::kSuccess && !to.is_null() && !from.is_null())
      machine.uses.Missed(to, from, copy.width, call);
    return result;
  });
  if (found != Result::kSuccess) return found;
  return ForEachRow(copy, [&](Address to, Address from) {
    return MoveBytes(machine, work, to, from, copy.width, call);
  });
}

Result Perform(Machine& machine, int device, CUstream stream, VolumeCopy copy, Blocking blocking,
               const char* call) {
  const Result complete = Complete(&copy);
  if (complete != Result::kSuccess) return complete;
  const std::uint64_t bytes = copy.width * copy.height * copy.depth;
  WatchedCalls::NoteBytes(bytes);
  Work work;
  const auto move = [copy, blocking, call, bytes, &machine](const Work& at) {
    const Result moved = MoveRows(machine, at, copy, call);
    const bool is_async = blocking == Blocking::kNever;
    if (moved == Result::kSuccess)
      TellCopy(machine, at, RowOf(copy.to, 0, 0), RowOf(copy.from, 0, 0), bytes, is_async);
    return moved;
  };
  const Result result = machine.streams.Perform(stream, device, NodeType::kMemcpy, move, &work);
  const bool waits =
      result == Result::kSuccess && HostWaits(machine, copy.to.base, copy.from.base, blocking);
  return waits ? machine.streams.SynchronizeWork(work) : result;
}

Address BaseOf(CUmemorytype type, CUdeviceptr on_card, const void* on_host) {
  return Address{type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(on_host) : on_card};
}

// These structs all use the same member names.
template <typename Copy>
VolumeCopy PlaneOf(const Copy& copy) {
  VolumeCopy plane;
  plane.to.base = BaseOf(copy.dstMemoryType, copy.dstDevice, copy.dstHost);
  plane.to.pitch = copy.dstPitch;
  plane.to.x = copy.dstXInBytes;
  plane.to.y = copy.dstY;
  plane.from.base = BaseOf(copy.srcMemoryType, copy.srcDevice, copy.srcHost);
  plane.from.pitch = copy.srcPitch;
  plane.from.x = copy.srcXInBytes;
  plane.from.y = copy.srcY;
  plane.width = copy.WidthInBytes;
  plane.height = copy.Height;
  return plane;
}

template <typename Copy>
VolumeCopy VolumeOf(const Copy& copy) {
  VolumeCopy volume = PlaneOf(copy);
  volume.to.height = copy.dstHeight;
  volume.to.z = copy.dstZ;
  volume.from.height = copy.srcHeight;
  volume.from.z = copy.srcZ;
  volume.depth = copy.Depth;
  return volume;
}

template <typename Copy>
bool UsesArray(const Copy& copy) {
  return copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY;
}

CUresult CopyPlane(const CUDA_MEMCPY2D* copy, CUstream stream, Blocking blocking,
                   const char* call = __builtin_FUNCTION()) {
  return WithContext(
      [&](Machine& machine, int device) {
        if (copy == nullptr) return Result::kInvalidValue;
        if (UsesArray(*copy)) return Result::kNotSupported;
        return Perform(machine, device, stream, PlaneOf(*copy), blocking, call);
      },
      call);
}

template <typename Copy>
CUresult CopyVolume(const Copy* copy, CUstream stream, Blocking blocking,
                    const char* call = __builtin_FUNCTION()) {
  return WithContext(
      [&](Machine& machine, int device) {
        if (copy == nullptr || copy->srcLOD != 0 || copy->dstLOD != 0) return Result::kInvalidValue;
        if (UsesArray(*copy)) return Result::kNotSupported;
        return Perform(machine, device, stream, VolumeOf(*copy), blocking, call);
      },
      call);
}

}  // namespace
}  // namespace memtrace::card

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) {
  return CopyPlane(copy, nullptr, Blocking::kOnReturn);
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) {
  return CopyPlane(copy, nullptr, Blocking::kOnReturn);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return CopyPlane(copy, stream, Blocking::kNever);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) {
  return CopyVolume(copy, nullptr, Blocking::kOnReturn);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return CopyVolume(copy, stream, Blocking::kNever);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return CopyVolume(copy, nullptr, Blocking::kOnReturn);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return CopyVolume(copy, stream, Blocking::kNever);
}
