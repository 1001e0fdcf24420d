// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_ERROR_TEXTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_ERROR_TEXTS_H_

#include <array>

#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

struct ErrorText {
  Result result;
  const char* driver_name;
  const char* runtime_name;
  const char* text;
};

inline constexpr std::array kErrorTexts = {
    ErrorText{Result::kSuccess, "CUDA_SUCCESS", "cudaSuccess", "no error"},
    // Comes before the runtime's errors for which the driver has no name of its own.
    ErrorText{Result::kUnknown, "CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "unknown error"},
    ErrorText{Result::kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue",
              "invalid argument"},
    ErrorText{Result::kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation",
              "out of memory"},
    ErrorText{Result::kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError",
              "initialization error"},
    ErrorText{Result::kDeinitialized, "CUDA_ERROR_DEINITIALIZED", "cudaErrorCudartUnloading",
              "driver shutting down"},
    ErrorText{Result::kInvalidConfiguration, "CUDA_ERROR_UNKNOWN", "cudaErrorInvalidConfiguration",
              "invalid configuration argument"},
    ErrorText{Result::kInvalidSymbol, "CUDA_ERROR_UNKNOWN", "cudaErrorInvalidSymbol",
              "invalid device symbol"},
    ErrorText{Result::kNoDevice, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice",
              "no CUDA-capable device is detected (simulated card: MEMTRACE_CARD names none)"},
    ErrorText{Result::kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice",
              "invalid device ordinal"},
    ErrorText{Result::kPeerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
              "cudaErrorPeerAccessUnsupported",
              "peer access is not supported between these two devices"},
    ErrorText{Result::kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage",
              "device kernel image is invalid"},
    ErrorText{Result::kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized",
              "invalid device context"},
    ErrorText{Result::kAlreadyMapped, "CUDA_ERROR_ALREADY_MAPPED", "cudaErrorAlreadyMapped",
              "resource already mapped"},
    ErrorText{Result::kFileNotFound, "CUDA_ERROR_FILE_NOT_FOUND", "cudaErrorFileNotFound",
              "file not found"},
    ErrorText{Result::kOperatingSystem, "CUDA_ERROR_OPERATING_SYSTEM", "cudaErrorOperatingSystem",
              "OS call failed or operation not supported on this OS"},
    ErrorText{Result::kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle",
              "invalid resource handle"},
    ErrorText{Result::kIllegalState, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
              "the operation cannot be performed in the present state"},
    ErrorText{Result::kNotFound, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound",
              "named symbol not found"},
    ErrorText{Result::kNotReady, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready"},
    ErrorText{Result::kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress",
              "an illegal memory access was encountered"},
    ErrorText{Result::kPeerAccessNotEnabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
              "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    ErrorText{Result::kHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
              "cudaErrorHostMemoryAlreadyRegistered",
              "part or all of the requested memory range is already mapped"},
    ErrorText{Result::kHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
              "cudaErrorHostMemoryNotRegistered",
              "pointer does not correspond to a registered memory region"},
    ErrorText{Result::kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure",
              "unspecified launch failure"},
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
    ErrorText{Result::kCaptureMerge, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
              "cudaErrorStreamCaptureMerge",
              "operation would result in a merge of separate capture sequences"},
    ErrorText{Result::kCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
              "cudaErrorStreamCaptureUnmatched",
              "capture was not ended in the same stream as it began"},
    ErrorText{Result::kCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
              "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    ErrorText{Result::kCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
              "cudaErrorStreamCaptureIsolation",
              "dependency created on uncaptured work in another stream"},
    ErrorText{Result::kCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
              "cudaErrorStreamCaptureImplicit",
              "operation would make the legacy stream depend on a capturing blocking stream"},
    ErrorText{Result::kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT", "cudaErrorCapturedEvent",
              "operation not permitted on an event last recorded in a capturing stream"},
    ErrorText{Result::kCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
              "cudaErrorStreamCaptureWrongThread",
              "attempt to terminate a thread-local capture sequence from another thread"},
    ErrorText{Result::kExecUpdateFailure, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
              "cudaErrorGraphExecUpdateFailure",
              "the graph update was not performed because it included changes which violated "
              "constraints specific to instantiated graph update"},
};

// Returns null for a number that the card never returns.
inline const ErrorText* FindErrorText(int number) {
  for (const ErrorText& entry : kErrorTexts) {
    if (static_cast<int>(entry.result) == number) return &entry;
  }
  return nullptr;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_ERROR_TEXTS_H_
