// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Copies in one dimension and fills. Their bytes move before they return; when they are done is the
// stream's matter.
#include <array>
#include <cstring>
#include <span>

#include "interpose/simulated_card/driver/copies.h"
#include "interpose/simulated_card/driver/telling.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {

bool HostWaits(Machine& machine, Address to, Address from, Blocking blocking) {
  const bool to_host = !AddressRanges::Contains(to);
  if (blocking == Blocking::kOnReturn) return to_host || !AddressRanges::Contains(from);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
  return to_host && !machine.host_memory.Find(reinterpret_cast<const void*>(to.value()));
}

Result MoveBytes(Machine& machine, const Work& work, Address to, Address from, std::uint64_t bytes,
                 const char* call) {
  const Result result = machine.copies.Copy(to, from, bytes);
  if (result != Result::kSuccess && !to.is_null() && !from.is_null())
    machine.uses.Missed(to, from, bytes, call);
  if (result != Result::kSuccess) return result;
  machine.uses.Used(to, bytes, work, call);
  machine.uses.Used(from, bytes, work, call);
  return result;
}

namespace {

CUresult Copy(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream stream,
              Blocking blocking, const char* call = __builtin_FUNCTION()) {
  const Address to{target};
  const Address from{source};
  return WithContext(
      [&](Machine& machine, int device) {
        WatchedCalls::NoteBytes(bytes);
        Work work;
        const Result result = machine.streams.Perform(
            stream, device, NodeType::kMemcpy,
            [=, &machine](const Work& at) {
              const Result moved = MoveBytes(machine, at, to, from, bytes, call);
              const bool is_async = blocking == Blocking::kNever;
              if (moved == Result::kSuccess) TellCopy(machine, at, to, from, bytes, is_async);
              return moved;
            },
            &work);
        if (result != Result::kSuccess || !HostWaits(machine, to, from, blocking)) return result;
        return machine.streams.SynchronizeWork(work);
      },
      call);
}

Result FillNow(Machine& machine, const Work& work, Address to, std::size_t bytes,
               std::span<const std::byte> pattern, const char* call) {
  const Result result = machine.copies.Fill(to, bytes, pattern);
  if (result != Result::kSuccess && !to.is_null()) machine.uses.Missed(to, to, bytes, call);
  if (result == Result::kSuccess) machine.uses.Used(to, bytes, work, call);
  return result;
}

template <typename Value>
CUresult Fill(CUdeviceptr target, Value value, std::size_t count, CUstream stream,
              Blocking blocking, const char* call = __builtin_FUNCTION()) {
  const Address to{target};
  return WithContext(
      [&](Machine& machine, int device) {
        if (to.value() % sizeof(Value) != 0 || count > AddressRanges::kEnd.value())
          return Result::kInvalidValue;
        const std::size_t bytes = count * sizeof(Value);
        WatchedCalls::NoteBytes(bytes);
        Work work;
        std::array<std::byte, sizeof(Value)> pattern;
        std::memcpy(pattern.data(), &value, sizeof(Value));
        const auto fill = [=, &machine](const Work& at) {
          const Result filled = FillNow(machine, at, to, bytes, pattern, call);
          const bool is_async = blocking == Blocking::kNever;
          if (filled == Result::kSuccess) TellFill(machine, at, to, bytes, value, is_async);
          return filled;
        };
        const Result result =
            machine.streams.Perform(stream, device, NodeType::kMemset, fill, &work);
        if (result != Result::kSuccess) return result;
        const bool waits = blocking == Blocking::kOnReturn && !AddressRanges::Contains(to);
        return waits ? machine.streams.SynchronizeWork(work) : result;
      },
      call);
}

CUdeviceptr AddressOf(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace
}  // namespace memtrace::card

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return Copy(to, from, bytes, nullptr, Blocking::kOnReturn);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return Copy(to, from, bytes, stream, Blocking::kNever);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return Copy(to, AddressOf(from), bytes, nullptr, Blocking::kOnReturn);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return Copy(to, AddressOf(from), bytes, stream, Blocking::kNever);
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return Copy(AddressOf(to), from, bytes, nullptr, Blocking::kOnReturn);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return Copy(AddressOf(to), from, bytes, stream, Blocking::kNever);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return Copy(to, from, bytes, nullptr, Blocking::kOnReturn);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return Copy(to, from, bytes, stream, Blocking::kNever);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                           std::size_t bytes, CUstream stream) {
  return Copy(to, from, bytes, stream, Blocking::kNever);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
  return Copy(to, from, bytes, nullptr, Blocking::kOnReturn);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return Fill(to, value, count, nullptr, Blocking::kOnReturn);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return Fill(to, value, count, stream, Blocking::kNever);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return Fill(to, value, count, stream, Blocking::kNever);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, std::size_t count) {
  return Fill(to, value, count, nullptr, Blocking::kOnReturn);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream) {
  return Fill(to, value, count, stream, Blocking::kNever);
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return Fill(to, value, count, nullptr, Blocking::kOnReturn);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  CUresult result = CUDA_SUCCESS;
  for (std::size_t row = 0; row < height && result == CUDA_SUCCESS; ++row)
    result = Fill(to + row * pitch, value, width, stream, Blocking::kNever);
  return result;
}

CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return cuMemsetD2D8Async(to, pitch, value, width, height, nullptr);
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned int) {
  return Fill(to, value, 1, stream, Blocking::kNever);
}
