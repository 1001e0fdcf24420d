// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_PROGRAM_SCOPES_H_
#define MEMTRACE_INTERPOSE_CORE_PROGRAM_SCOPES_H_

#include <cstdint>

#include "base/units.h"
#include "profiler/trace/events/event.h"

namespace memtrace {

// What the program says about itself, by the C ABI. Said to the recorder at once, or, as long as
// CUDA is not in use and there is none, kept and said later: tags and modules by the thread they
// belong to, phase and steps by the process.
//
// Thread rule: any thread; tags and modules are the calling thread's.
void PushTag(uint32_t name);
void PopTag();
void PushModule(uint32_t path);
void PopModule();
uint32_t ModuleDepth();  // how many of those this thread pushed it is in
// Does nothing before there is a recorder: no memory could have the role.
void PushRole(trace::Role role);
void PopRole();
// What this thread is in, for EnterScope of another thread or of later; 0 is nothing.
uint32_t CurrentScope();
void EnterScope(uint32_t scope);
void LeaveScope();
void SetPhase(trace::Phase phase);
void BeginStep();

// Says what this thread, and the process, said before the recorder was there. Cheap when there is
// nothing.
void SayWhatWasKept();

// The context word for an allocation of this thread, that the library of ours asks for in which the
// return address `caller` lies; 0 without a recorder. Takes Python's interpreter lock.
// MEMTRACE_NATIVE_STACKS=1 adds native frames.
ContextId CaptureContext(const void* caller);

// The same with the native frames from `caller` outwards, for memory that was taken within a call
// of the driver: takes no lock that the program could know. MEMTRACE_NATIVE_STACKS=0 leaves the
// frames out.
ContextId CaptureNativeContext(const void* caller);

// The same for page-locked memory of the host. Takes Python's interpreter lock if torch asked.
ContextId CaptureHostContext(const void* caller);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_PROGRAM_SCOPES_H_
