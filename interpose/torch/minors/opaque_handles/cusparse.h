// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUSPARSE_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUSPARSE_H_

// torch's header names this type and nothing else of the library, whose own headers come with
// hundreds of megabytes.
using cusparseHandle_t = struct cusparseContext*;

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUSPARSE_H_
