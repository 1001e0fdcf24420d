// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_ERROR_TEXTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_ERROR_TEXTS_H_

#include <array>

#include "interpose/simulated_card/result.h"

namespace memtrace::card {

struct ErrorText {
  Result result;
  const char* driver_name;
  const char* runtime_name;
  const char* text;
};

inline constexpr std::array kErrorTexts = {
    ErrorText{Result::kSuccess, "CUDA_SUCCESS", "cudaSuccess", "no error"},
    ErrorText{Result::kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue",
              "invalid argument"},
    ErrorText{Result::kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation",
              "out of memory"},
    ErrorText{Result::kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError",
              "initialization error"},
    ErrorText{Result::kInvalidConfiguration, "CUDA_ERROR_UNKNOWN", "cudaErrorInvalidConfiguration",
              "invalid configuration argument"},
    ErrorText{Result::kNoDevice, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice",
              "no CUDA-capable device is detected (simulated card: MEMTRACE_CARD names none)"},
    ErrorText{Result::kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice",
              "invalid device ordinal"},
    ErrorText{Result::kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized",
              "invalid device context"},
    ErrorText{Result::kAlreadyMapped, "CUDA_ERROR_ALREADY_MAPPED", "cudaErrorAlreadyMapped",
              "resource already mapped"},
    ErrorText{Result::kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle",
              "invalid resource handle"},
    ErrorText{Result::kIllegalState, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
              "the operation cannot be performed in the present state"},
    ErrorText{Result::kNotFound, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound",
              "named symbol not found"},
    ErrorText{Result::kNotReady, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready"},
    ErrorText{Result::kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress",
              "an illegal memory access was encountered"},
    ErrorText{Result::kHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
              "cudaErrorHostMemoryAlreadyRegistered",
              "part or all of the requested memory range is already mapped"},
    ErrorText{Result::kHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
              "cudaErrorHostMemoryNotRegistered",
              "pointer does not correspond to a registered memory region"},
    ErrorText{Result::kNotPermitted, "CUDA_ERROR_NOT_PERMITTED", "cudaErrorNotPermitted",
              "operation not permitted"},
    ErrorText{Result::kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported",
              "operation not supported (simulated card)"},
    ErrorText{Result::kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
              "cudaErrorStreamCaptureUnsupported",
              "operation not permitted when stream is capturing"},
    ErrorText{Result::kCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
              "cudaErrorStreamCaptureInvalidated",
              "operation failed due to a previous error during capture"},
    ErrorText{Result::kCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
              "cudaErrorStreamCaptureUnmatched",
              "capture was not ended in the same stream as it began"},
    ErrorText{Result::kCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
              "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    ErrorText{Result::kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT", "cudaErrorCapturedEvent",
              "operation not permitted on an event last recorded in a capturing stream"},
};

// Null for a number that the card never returns.
inline const ErrorText* FindErrorText(int number) {
  for (const ErrorText& entry : kErrorTexts) {
    if (static_cast<int>(entry.result) == number) return &entry;
  }
  return nullptr;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_ERROR_TEXTS_H_
