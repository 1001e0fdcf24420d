// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_AUTOGRAD_CONTEXT_H_
#define MEMTRACE_INTERPOSE_TORCH_AUTOGRAD_CONTEXT_H_

namespace memtrace::shim {

// Tells the core which operation's backward a thread runs, so that its memory has the owner and the
// module of the forward. Must be called before memtrace_start.
void FollowAutograd();

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_AUTOGRAD_CONTEXT_H_
