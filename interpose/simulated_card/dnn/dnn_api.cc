// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN: the library itself, its handles, its errors. Handles and streams are real.
#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "interpose/simulated_card/dnn/objects.h"
#include "interpose/simulated_card/dnn/version.h"
#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/wheels/stated_version.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Bytes that a handle allocates at once: 8 MiB and, in a granule shared with two of three handles,
// 683 KiB to 1 MiB; measured (cuDNN 9.19, tests/gpu/recordings/h100-80gb/library_growth.json).
constexpr std::array<std::size_t, 2> kOwnMemory = {std::size_t{8} << 20, std::size_t{1} << 20};

thread_local char last_error[512] = "";

}  // namespace

cudnnStatus_t Refuse(cudnnStatus_t status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(last_error, sizeof(last_error), format, arguments);
  va_end(arguments);
  return status;
}

int ElementBits(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_FP4_E2M1:
    case CUDNN_DATA_INT4:
    case CUDNN_DATA_UINT4:
      return 4;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BOOLEAN:
    case CUDNN_DATA_FP8_E4M3:
    case CUDNN_DATA_FP8_E5M2:
    case CUDNN_DATA_FP8_E8M0:
    case CUDNN_DATA_FAST_FLOAT_FOR_FP8:
      return 8;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 16;
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64:
    case CUDNN_DATA_COMPLEX_FP32:
      return 64;
    case CUDNN_DATA_INT8x32:
      return 256;
    case CUDNN_DATA_COMPLEX_FP64:
      return 128;
    default:
      return 32;
  }
}

std::uint64_t PackedBytes(cudnnDataType_t type, std::uint64_t elements) {
  return (elements * static_cast<std::uint64_t>(ElementBits(type)) + 7) / 8;
}

// A thread without a context, such as one of autograd's whose first operation is cuDNN's, uses card
// 0: the runtime, which cuDNN uses, would make that card's primary context current.
int CurrentCardAttribute(CUdevice_attribute attribute) {
  CUdevice device = 0;
  int value = 0;
  if (cuCtxGetDevice(&device) != CUDA_SUCCESS) device = 0;
  cuDeviceGetAttribute(&value, attribute, device);
  return value;
}

// cuDNN pads channels of 16 bits. It is assumed to leave those of 32 bits unchanged, so that a
// first layer of RGB runs on the plain engine.
bool TensorCoresSupport(cudnnDataType_t type, std::int64_t channels) {
  constexpr std::int64_t kOfTf32 = 4;
  const int major = CurrentCardAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  if (type == CUDNN_DATA_DOUBLE) return false;
  if (type == CUDNN_DATA_FLOAT && channels % kOfTf32 != 0) return false;
  return major >= (type == CUDNN_DATA_HALF ? 7 : 8);
}

}  // namespace memtrace::card

// The generated functions call this. Every compute function takes the handle first.
extern "C" int memtrace_dnn_call(const char* name, void* handle) {
  if (handle == nullptr) return CUDNN_STATUS_NOT_INITIALIZED;
  const int launched = memtrace_card_launch_call(name, static_cast<cudnnContext*>(handle)->stream);
  return launched == 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

std::size_t cudnnGetVersion() { return DnnVersion(); }

std::size_t cudnnGetMaxDeviceVersion() { return CUDNN_MAX_DEVICE_VERSION; }

// In the wheels of CUDA 12 the runtime's header is in a folder of its own.
std::size_t cudnnGetCudartVersion() {
  static const std::size_t kVersion =
      StatedVersion(HeaderBesideTorch("cuda_runtime/include/cuda_runtime_api.h"),
                    {{"CUDART_VERSION", 1}})
          .value_or(CUDART_VERSION);
  return kVersion;
}

cudnnStatus_t cudnnGetProperty(libraryPropertyType property, int* value) {
  const auto version = static_cast<int>(DnnVersion());
  const int parts[] = {version / 10000, version / 100 % 100, version % 100};
  if (property < MAJOR_VERSION || property > PATCH_LEVEL) return CUDNN_STATUS_BAD_PARAM;
  return Answer(value, parts[property]);
}

// Needs a card, as the real function does.
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (cuInit(0) != CUDA_SUCCESS) {
    return Refuse(CUDNN_STATUS_NOT_INITIALIZED,
                  "there is no simulated card, or this process was forked from one that used it");
  }
  if (const cudnnStatus_t made = Create(handle); made != CUDNN_STATUS_SUCCESS) return made;
  if ((*handle)->memory.Take(kOwnMemory)) return CUDNN_STATUS_SUCCESS;
  Destroy(*handle);
  *handle = nullptr;
  return Refuse(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED,
                "the card has no room for the 9 MiB that a handle takes");
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return Destroy(handle); }

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUDNN_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  return handle == nullptr ? CUDNN_STATUS_NOT_INITIALIZED : Answer(stream, handle->stream);
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (CUDNN_STATUS_CATEGORY(status)) {
    case CUDNN_STATUS_SUCCESS:
      return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS"
                                            : "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM:
      return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED (memtrace's simulated card does not have this)";
    case CUDNN_STATUS_INTERNAL_ERROR:
      return "CUDNN_STATUS_INTERNAL_ERROR";
    default:
      return "CUDNN_STATUS_EXECUTION_FAILED";
  }
}

// Returns the last sentence, once.
void cudnnGetLastErrorString(char* message, std::size_t max_size) {
  if (message == nullptr || max_size == 0) return;
  std::snprintf(message, max_size, "%s", last_error);
  last_error[0] = '\0';
}
