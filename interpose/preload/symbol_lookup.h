// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_PRELOAD_SYMBOL_LOOKUP_H_
#define MEMTRACE_INTERPOSE_PRELOAD_SYMBOL_LOOKUP_H_

namespace memtrace::preload {

// The C library's dlsym. This library also hooks dlsym, because the functions of a driver loaded by
// dlopen are looked up by handle, not by name.
void* LookUp(void* handle, const char* name);

}  // namespace memtrace::preload

#endif  // MEMTRACE_INTERPOSE_PRELOAD_SYMBOL_LOOKUP_H_
