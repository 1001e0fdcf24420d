// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_SYMBOL_LOOKUP_H_
#define MEMTRACE_INTERPOSE_PRELOAD_SYMBOL_LOOKUP_H_

namespace memtrace::preload {

// The C library's dlsym: this library stands before it, too, since a driver that is loaded by
// dlopen is asked for its functions by handle, not by name.
void* LookUp(void* handle, const char* name);

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_SYMBOL_LOOKUP_H_
