/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the program says about itself. A part of memtrace.h, whose rules hold here too.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_PROGRAM_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_PROGRAM_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number for a name, for the calls below; the same name gives the same number. 0 for "". */
MEMTRACE_API uint32_t memtrace_intern(const char* name);

/* Owner tags of the calling thread, nested: "a" then "b" is owner "a/b". */
MEMTRACE_API void memtrace_push_tag(uint32_t name);
MEMTRACE_API void memtrace_pop_tag(void);
/* Module whose forward runs on the calling thread: the full path, not a part of it. */
MEMTRACE_API void memtrace_push_module(uint32_t path);
MEMTRACE_API void memtrace_pop_module(void);
/* How many of these this thread is in. */
MEMTRACE_API uint32_t memtrace_module_depth(void);
/* For Python alone, functions of its stable ABI. METH_O: pushes the module of this number, or 0
 * in place of MEMTRACE_UNKNOWN_MODULE; a bool, whether it was known and the thread was in another
 * one. METH_NOARGS: pops it; a bool, whether it was the outermost. */
#define MEMTRACE_UNKNOWN_MODULE UINT32_MAX
MEMTRACE_API void* memtrace_python_enter_module(void* self, void* number);
MEMTRACE_API void* memtrace_python_leave_module(void* self, void* none);
/* METH_VARARGS: dict, key, dict, reference. If the first dict has for the key a tuple that begins
 * with the reference, the key is removed from both. */
MEMTRACE_API void* memtrace_python_forget(void* self, void* arguments);
/* METH_O: has the object called, without arguments, where memtrace_set_before_out_of_memory would
 * call a function. What it raises arrives in the program a moment later. */
MEMTRACE_API void* memtrace_python_call_before_out_of_memory(void* self, void* object);
/* METH_O: the same for memtrace_set_collector. */
MEMTRACE_API void* memtrace_python_call_to_collect(void* self, void* object);
/* Role (event.h) of what the calling thread allocates meanwhile. */
MEMTRACE_API void memtrace_push_role(int role);
MEMTRACE_API void memtrace_pop_role(void);
/* The owner and the module that this thread is in; for memtrace_enter_scope in another thread, or
 * later. 0: neither. */
MEMTRACE_API uint32_t memtrace_current_scope(void);
/* Those in which this thread ran the operation of that number forward (memtrace_operations). */
MEMTRACE_API uint32_t memtrace_scope_of_forward(uint64_t sequence);
MEMTRACE_API void memtrace_enter_scope(uint32_t scope);
MEMTRACE_API void memtrace_leave_scope(void);

/* What a framework knows about the calling thread, so that memory of a backward pass has the owner
 * and the module of its forward. Operations are numbered by the thread that ran them forward
 * (from 1) and, ascending, within it. None of these may block or call back. */
struct memtrace_operations {
  uint32_t size;
  /* The operation whose backward runs; *thread = 0: none does. *sequence is all ones for one that
   * had no forward. */
  void (*running)(uint64_t* thread, uint64_t* sequence);
  /* The operation that this thread will run forward next. */
  void (*next)(uint64_t* thread, uint64_t* sequence);
  /* Whether operations of this thread are recorded for a backward now. */
  int (*is_recording)(void);
};
/* Before memtrace_start; once. */
MEMTRACE_API void memtrace_set_operations(const struct memtrace_operations* operations);

/* The Python frames of the calling thread, innermost first, one a line: file, tab, line, tab,
 * function. At most 32 frames, cut at size - 1 bytes, ended with a zero; returns how many frames
 * there are, 0 on a thread that Python does not know. Takes the interpreter's lock. */
MEMTRACE_API int memtrace_python_frames(char* text, uint64_t size);

/* Process-wide. Steps are counted from 1. */
MEMTRACE_API void memtrace_begin_step(void);
MEMTRACE_API void memtrace_set_phase(int phase);
MEMTRACE_API void memtrace_annotate(const char* key, const char* value);

/* With MEMTRACE_CUPTI: another tool of the process needs CUPTI from here on / no longer. May be
 * nested; do nothing otherwise. What the cards do meanwhile is not recorded. */
MEMTRACE_API void memtrace_pause_activities(void);
MEMTRACE_API void memtrace_resume_activities(void);

/* [address, address + bytes) is `role` (event.h) of `path` and belongs to `owner`; 0 leaves owner
 * or path unsaid. Saying again what is known costs a look-up and writes nothing. */
MEMTRACE_API void memtrace_relabel(int device, uint64_t address, uint64_t bytes, int role,
                                   uint32_t owner, uint32_t path);
/* The same of `count` ranges of one role at once, five words each: device, address, bytes,
 * parameter, path. `parameter` is the address of the one that the range serves (as its gradient,
 * its optimizer's states) or 0: what was allocated without an owner gets the parameter's. */
#define MEMTRACE_LABEL_WORDS 5
MEMTRACE_API void memtrace_relabel_all(int role, const uint64_t* labels, size_t count);

/* Called before an out-of-memory is written, on the failing thread, no lock of ours held: the
 * Python side labels what it knows now. NULL removes it. */
MEMTRACE_API void memtrace_set_before_out_of_memory(void (*callback)(void* user), void* user);

/* Sets what frees memory that nobody needs any more: Python's collector. NULL removes it. */
MEMTRACE_API void memtrace_set_collector(void (*callback)(void* user), void* user);
/* Calls it on the calling thread, which may then run any code of the program's: no lock may be held
 * that this could want. Returns 1 if it has run, 0 if there is none or if this thread is in it. */
MEMTRACE_API int memtrace_collect(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_PROGRAM_H_ */
