/* SPDX-FileCopyrightText: the memtrace authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Facts that the program tells about itself. A part of memtrace.h, whose rules also hold here.
 */
#ifndef MEMTRACE_INTERPOSE_CORE_MEMTRACE_PROGRAM_H_
#define MEMTRACE_INTERPOSE_CORE_MEMTRACE_PROGRAM_H_

#include "interpose/core/memtrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a name's number for the calls below; the same name gives the same number. 0 for "". */
MEMTRACE_API uint32_t memtrace_intern(const char* name);

/* Set owner tags of the calling thread, which nest: "a" then "b" is owner "a/b". */
MEMTRACE_API void memtrace_push_tag(uint32_t name);
MEMTRACE_API void memtrace_pop_tag(void);
/* Set the module whose forward runs on the calling thread, by its full path, not a part of it. */
MEMTRACE_API void memtrace_push_module(uint32_t path);
MEMTRACE_API void memtrace_pop_module(void);
/* Returns how many pushed modules this thread is in. */
MEMTRACE_API uint32_t memtrace_module_depth(void);
/* For Python only, functions of its stable ABI. METH_O: pushes the module of this number, or 0
 * in place of MEMTRACE_UNKNOWN_MODULE; returns True if it was known and the thread was in another
 * one. METH_NOARGS: pops it; returns True if it was the outermost. */
#define MEMTRACE_UNKNOWN_MODULE UINT32_MAX
MEMTRACE_API void* memtrace_python_enter_module(void* self, void* number);
MEMTRACE_API void* memtrace_python_leave_module(void* self, void* none);
/* METH_VARARGS: dict, key, dict, reference. If the first dict has for the key a tuple that begins
 * with the reference, removes the key from both. */
MEMTRACE_API void* memtrace_python_forget(void* self, void* arguments);
/* METH_O: calls the object, without arguments, where memtrace_set_before_out_of_memory would call
 * a function. An exception that it raises is raised in the program a moment later. */
MEMTRACE_API void* memtrace_python_call_before_out_of_memory(void* self, void* object);
/* The same for memtrace_set_before_spill. */
MEMTRACE_API void* memtrace_python_call_before_spill(void* self, void* object);
/* METH_O: the same for memtrace_set_collector. */
MEMTRACE_API void* memtrace_python_call_to_collect(void* self, void* object);
/* Set the role (event.h) of memory that the calling thread allocates until the pop. */
MEMTRACE_API void memtrace_push_role(int role);
MEMTRACE_API void memtrace_pop_role(void);
/* Returns the owner and the module that this thread is in, as one number for memtrace_enter_scope
 * in another thread, or later. 0: neither. */
MEMTRACE_API uint32_t memtrace_current_scope(void);
/* Returns those in which this thread ran the forward of that operation (memtrace_operations). */
MEMTRACE_API uint32_t memtrace_scope_of_forward(uint64_t sequence);
MEMTRACE_API void memtrace_enter_scope(uint32_t scope);
MEMTRACE_API void memtrace_leave_scope(void);

/* A framework's knowledge of the calling thread, so that memory of a backward pass gets the owner
 * and the module of its forward. An operation's number has two parts: the thread that ran it
 * forward (from 1), and an ascending number within it. None of these may block or call back. */
struct memtrace_operations {
  uint32_t size;
  /* Gives the operation whose backward runs; *thread = 0: none does. *sequence is all ones for one
   * that had no forward. */
  void (*running)(uint64_t* thread, uint64_t* sequence);
  /* Gives the operation that this thread will run forward next. */
  void (*next)(uint64_t* thread, uint64_t* sequence);
  /* Returns nonzero if this thread's operations are now recorded for a backward. */
  int (*is_recording)(void);
};
/* Call this before memtrace_start, at most once. */
MEMTRACE_API void memtrace_set_operations(const struct memtrace_operations* operations);

/* Writes the Python frames of the calling thread, innermost first, one a line: file, tab, line,
 * tab, function. Writes at most 32 frames, cut at size - 1 bytes, and a final zero. Returns how
 * many frames there are, 0 on a thread that Python does not know. Takes the interpreter's lock. */
MEMTRACE_API int memtrace_python_frames(char* text, uint64_t size);

/* These are process-wide. Steps are counted from 1. */
MEMTRACE_API void memtrace_begin_step(void);
MEMTRACE_API void memtrace_set_phase(int phase);
/* States a fact about the program. Before there is a trace, the last value of each key is kept for
 * it. */
MEMTRACE_API void memtrace_annotate(const char* key, const char* value);

/* With MEMTRACE_CUPTI: tell that another tool of the process needs CUPTI from now on / no longer.
 * Calls may nest. Without it they do nothing. Activities of the cards meanwhile are not recorded.
 */
MEMTRACE_API void memtrace_pause_activities(void);
MEMTRACE_API void memtrace_resume_activities(void);

/* Labels [address, address + bytes) as `role` (event.h) of `path`, belonging to `owner`; 0 leaves
 * owner or path unchanged. Repeating a known label costs a look-up and writes nothing. */
MEMTRACE_API void memtrace_relabel(int device, uint64_t address, uint64_t bytes, int role,
                                   uint32_t owner, uint32_t path);
/* The same for `count` ranges of one role at once, five words each: device, address, bytes,
 * parameter, path. `parameter` is the address of the parameter that the range serves (as its
 * gradient, its optimizer's states) or 0; a range without an owner gets the parameter's. */
#define MEMTRACE_LABEL_WORDS 5
MEMTRACE_API void memtrace_relabel_all(int role, const uint64_t* labels, size_t count);

/* Sets a function to call before an out-of-memory is written, on the failing thread, with no lock
 * of ours held: the Python side labels then what it knows. NULL removes it. */
MEMTRACE_API void memtrace_set_before_out_of_memory(void (*callback)(void* user), void* user);

/* Sets a function that frees memory which is no longer needed: Python's collector. NULL removes it.
 */
MEMTRACE_API void memtrace_set_collector(void (*callback)(void* user), void* user);
/* Calls it on this thread, which may then run any code of the program: the caller must hold no lock
 * that this could want. Returns 1 if it has run, 0 if there is none or if this thread is in it. */
MEMTRACE_API int memtrace_collect(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MEMTRACE_INTERPOSE_CORE_MEMTRACE_PROGRAM_H_ */
