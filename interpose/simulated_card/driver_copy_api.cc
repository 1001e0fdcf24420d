// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Copies and fills. All are carried out before they return; a stream only counts them.
#include <array>
#include <cstring>

#include "interpose/simulated_card/driver_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

Result CopyInStream(Machine& machine, int device, CUstream stream, Address to, Address from,
                    std::size_t bytes) {
  return machine.streams.Perform(stream, device, NodeType::kMemcpy, [&machine, to, from, bytes] {
    return machine.copies.Copy(to, from, bytes);
  });
}

CUresult Copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return WithContext([&](Machine& machine, int device) {
    return CopyInStream(machine, device, stream, to, from, bytes);
  });
}

template <typename Value>
CUresult Fill(CUdeviceptr to, Value value, std::size_t count, CUstream stream) {
  return WithContext([&](Machine& machine, int device) {
    if (to % sizeof(Value) != 0 || count > AddressRanges::kEnd) return Result::kInvalidValue;
    std::array<std::byte, sizeof(Value)> pattern;
    std::memcpy(pattern.data(), &value, sizeof(Value));
    return machine.streams.Perform(stream, device, NodeType::kMemset, [=, &machine] {
      return machine.copies.Fill(to, count * sizeof(Value), pattern);
    });
  });
}

CUdeviceptr AddressOf(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// One side of a 2D copy.
struct Plane {
  CUdeviceptr begin = 0;
  std::size_t pitch = 0;
};

Result PlaneOf(CUmemorytype type, CUdeviceptr on_card, const void* on_host, std::size_t pitch,
               std::size_t x, std::size_t y, Plane* plane) {
  if (type == CU_MEMORYTYPE_ARRAY) return Result::kNotSupported;
  plane->begin = (type == CU_MEMORYTYPE_HOST ? AddressOf(on_host) : on_card) + y * pitch + x;
  plane->pitch = pitch;
  return Result::kSuccess;
}

Result CopyRows(Machine& machine, int device, CUstream stream, const CUDA_MEMCPY2D& copy) {
  Plane from;
  Plane to;
  Result result = PlaneOf(copy.srcMemoryType, copy.srcDevice, copy.srcHost, copy.srcPitch,
                          copy.srcXInBytes, copy.srcY, &from);
  if (result != Result::kSuccess) return result;
  result = PlaneOf(copy.dstMemoryType, copy.dstDevice, copy.dstHost, copy.dstPitch,
                   copy.dstXInBytes, copy.dstY, &to);
  if (result != Result::kSuccess) return result;
  const auto copy_rows = [=, &machine, width = copy.WidthInBytes, height = copy.Height] {
    Result copied = Result::kSuccess;
    for (std::size_t row = 0; row < height && copied == Result::kSuccess; ++row) {
      copied = machine.copies.Copy(to.begin + row * to.pitch, from.begin + row * from.pitch, width);
    }
    return copied;
  };
  return machine.streams.Perform(stream, device, NodeType::kMemcpy, copy_rows);
}

}  // namespace
}  // namespace memtrace::card

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return Copy(to, from, bytes, nullptr);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return Copy(to, from, bytes, stream);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return Copy(to, AddressOf(from), bytes, nullptr);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return Copy(to, AddressOf(from), bytes, stream);
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return Copy(AddressOf(to), from, bytes, nullptr);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return Copy(AddressOf(to), from, bytes, stream);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return Copy(to, from, bytes, nullptr);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return Copy(to, from, bytes, stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                           std::size_t bytes, CUstream stream) {
  return Copy(to, from, bytes, stream);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
  return Copy(to, from, bytes, nullptr);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) { return cuMemcpy2DAsync(copy, nullptr); }

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) { return cuMemcpy2DAsync(copy, nullptr); }

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return WithContext([&](Machine& machine, int device) {
    return copy == nullptr ? Result::kInvalidValue : CopyRows(machine, device, stream, *copy);
  });
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return Fill(to, value, count, nullptr);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return Fill(to, value, count, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return Fill(to, value, count, stream);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, std::size_t count) {
  return Fill(to, value, count, nullptr);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream) {
  return Fill(to, value, count, stream);
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return Fill(to, value, count, nullptr);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  CUresult result = CUDA_SUCCESS;
  for (std::size_t row = 0; row < height && result == CUDA_SUCCESS; ++row)
    result = Fill(to + row * pitch, value, width, stream);
  return result;
}

CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return cuMemsetD2D8Async(to, pitch, value, width, height, nullptr);
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned int) {
  return Fill(to, value, 1, stream);
}
