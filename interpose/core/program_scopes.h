// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_PROGRAM_SCOPES_H_
#define MEMTRACE_INTERPOSE_CORE_PROGRAM_SCOPES_H_

#include <cstdint>
#include <string>

#include "base/units.h"
#include "profiler/trace/events/event.h"

namespace memtrace {

// Receives what the program says about itself through the C ABI. It is passed to the recorder at
// once or, as long as CUDA is not in use and there is none, kept for it: tags and modules by their
// thread, phase and steps by the process.
//
// Thread rule: any thread; tags and modules are the calling thread's.
void PushTag(uint32_t name);
void PopTag();
void PushModule(uint32_t path);
void PopModule();
uint32_t ModuleDepth();  // how many of the modules that it pushed this thread is in
// Does nothing before there is a recorder: no memory could have the role.
void PushRole(trace::Role role);
void PopRole();
// Returns the scope that this thread is in, for a later EnterScope here or in another thread; 0 is
// none.
uint32_t CurrentScope();
void EnterScope(uint32_t scope);
void LeaveScope();
void SetPhase(trace::Phase phase);
void BeginStep();
// States a fact; of a key that is stated again before there is a recorder, the last value counts.
void Annotate(const std::string& key, const std::string& value);

// Passes on what this thread and the process said before there was a recorder. Cheap if there is
// nothing.
void PassOnKeptScopes();

// Returns the context word for an allocation of this thread; 0 without a recorder. The return
// address `caller` lies in the library of ours that requests the memory. Takes Python's interpreter
// lock. MEMTRACE_NATIVE_STACKS=1 adds native frames.
ContextId CaptureContext(const void* caller);

// The same with the native frames from `caller` outwards, for memory that was taken within a call
// of the driver. Takes no lock that the program could hold. MEMTRACE_NATIVE_STACKS=0 omits the
// frames.
ContextId CaptureNativeContext(const void* caller);

// The same for page-locked host memory. Takes Python's interpreter lock if torch requested it.
ContextId CaptureHostContext(const void* caller);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_PROGRAM_SCOPES_H_
