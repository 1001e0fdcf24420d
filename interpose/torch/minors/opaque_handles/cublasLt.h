// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUBLASLT_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUBLASLT_H_

// torch's header names this type and nothing else of the library, whose own headers come with
// hundreds of megabytes.
using cublasLtHandle_t = struct cublasLtContext*;

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUBLASLT_H_
