// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUSOLVERDN_H_
#define MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUSOLVERDN_H_

// torch's header names this type and nothing else of the library, whose own headers come with
// hundreds of megabytes.
using cusolverDnHandle_t = struct cusolverDnContext*;

#endif  // MEMTRACE_INTERPOSE_TORCH_MINORS_OPAQUE_HANDLES_CUSOLVERDN_H_
