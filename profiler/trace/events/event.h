// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_EVENT_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_EVENT_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace memtrace::trace {

// What a block is for; roles.def says what each means.
enum class Role : uint8_t {
#define MEMTRACE_ROLE(name, text, meaning) k##name,
#include "profiler/trace/vocabulary/roles.def"
#undef MEMTRACE_ROLE
};
// A role above these is a later writer's and reads as kUnknown.
inline constexpr size_t kRoleCount = static_cast<size_t>(Role::kCheckpoint) + 1;
std::string_view RoleName(Role role);  // "optimizer_state"

// What the program is doing. Process-wide: autograd's threads are in the phase of the thread that
// waits for them.
enum class Phase : uint8_t {
#define MEMTRACE_PHASE(name, text) k##name,
#include "profiler/trace/vocabulary/phases.def"
#undef MEMTRACE_PHASE
};
inline constexpr size_t kPhaseCount = static_cast<size_t>(Phase::kGenerate) + 1;
std::string_view PhaseName(Phase phase);

// What a program can take from the driver itself. The first three are memory of a card.
enum class OutsideKind : uint8_t {
  kDevice,         // cudaMalloc
  kStreamOrdered,  // cudaMallocAsync
  kPhysical,       // cuMemCreate; its address is the handle
  kManaged,
  kHost,        // pinned host memory
  kRegistered,  // host memory that was there and is pinned now
};
std::string_view OutsideKindName(OutsideKind kind);  // "stream_ordered"

// What a card does.
enum class ActivityKind : uint8_t {
  kKernel,
  kCopy,
  kFill,
  kMemoryGiven,  // by the driver, to whomever
  kMemoryTakenBack,
};
std::string_view ActivityKindName(ActivityKind kind);  // "memory_given"

// Index into the file's string table; 0 is the empty string. A string lost with a damaged block
// reads "(lost)".
using StringId = uint32_t;
// Index into the file's stacks; 0 is "no stack was taken".
using StackId = uint32_t;

// Sizes are bytes; addresses are the card's. `stream` is the handle's value, 0 the legacy default
// stream.
struct Allocate {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t requested = 0;  // as asked for
  uint64_t allocated = 0;  // after rounding
  uint64_t stream = 0;
  uint32_t pool = 0;  // 0 is the default pool
  StackId stack = 0;
  StringId owner = 0;   // tags joined by '/', outermost first; 0 is untagged
  StringId module = 0;  // path of the innermost module whose forward is running
};
struct FreeRequested {
  int32_t device = 0;
  uint64_t address = 0;
};
// The block can be reused: at once after the request, or when the streams that used it have got
// that far.
struct FreeCompleted {
  int32_t device = 0;
  uint64_t address = 0;
};
// Address space of a segment; no memory yet.
struct Reserve {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
};
struct Map {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
};
struct Unmap {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
};
// From now on and since its birth, [address, address + size) of the block that lies there has this
// role, owner and path. It may cover a part of a block (flat buffers); a size of 0 is all of the
// block from there on. The latest label wins.
struct Relabel {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  Role role = Role::kUnknown;  // an empty field leaves what was stated (label.h)
  StringId owner = 0;
  StringId path = 0;  // of the parameter, for parameters, gradients and optimizer states
};
struct Step {
  uint64_t number = 0;  // the step that begins; the first is 1
};
struct PhaseChange {
  Phase phase = Phase::kOther;
  // Of the step, from 1; in forward, recompute and backward alone. 0 elsewhere, and of writers that
  // did not say.
  uint64_t micro_batch = 0;
};
struct TagChange {
  uint32_t thread = 0;
  StringId owner = 0;
};
// Something worth knowing about the run or about now, by key: "optimizer.class",
// "simulation.kernel_launches". The keys in use are listed in format.md. The latest value of a key
// counts.
struct Annotate {
  StringId key = 0;
  StringId value = 0;
};

// One card at one moment. Every entry comes from its own source; what does not add up is left to
// the reader (docs/report.md, "unexplained").
struct CardLedger {
  int32_t device = 0;
  uint64_t total = 0;
  uint64_t free = 0;     // as the driver says
  uint64_t context = 0;  // driver's own, for this process
  uint64_t other_processes = 0;
  uint64_t outside_allocator = 0;  // allocated by this process behind the allocator
  uint64_t reserved = 0;           // mapped by the allocator
  uint64_t live_requested = 0;
  uint64_t live_allocated = 0;
  uint64_t stream_wait = 0;
  uint64_t cached = 0;
  uint64_t holes = 0;
  uint64_t largest_hole = 0;
  uint64_t private_pools = 0;  // free, but only for graphs and pools that are in use
};
struct OutOfMemory {
  int32_t device = 0;
  uint64_t stream = 0;
  uint64_t requested = 0;
  uint64_t allocated = 0;
  uint64_t obtainable = 0;  // the largest request that could have been served
  uint64_t limit = ~uint64_t{0};
  StackId stack = 0;
  StringId owner = 0;
  StringId module = 0;
  std::vector<CardLedger> cards;  // every card of the process, the failing one included
};
struct CardSample {
  CardLedger card;
};
// Events that could not be written.
struct Lost {
  uint64_t events = 0;
  StringId reason = 0;
};

// Memory that the process took from the driver beside the allocator that the other events are of.
struct OutsideAllocate {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  OutsideKind kind = OutsideKind::kDevice;
  StackId stack = 0;
  StringId owner = 0;
  StringId module = 0;
};
struct OutsideFree {
  int32_t device = 0;
  uint64_t address = 0;
  OutsideKind kind = OutsideKind::kDevice;
};

// Recording begins here, in the middle of the program: what was before was dropped as asked for.
// Alive, Map, Annotate and other events that say what held then follow it.
struct Resume {
  uint64_t step = 0;
  Phase phase = Phase::kOther;
  uint8_t forward_seen = 0;  // 1: a forward pass had begun
  uint64_t micro_batch = 0;  // of the step, the latest begun; 0: none
};
// A block that lived when recording began.
struct Alive {
  Allocate block;
  uint64_t birth = 0;  // sequence number of its allocation
  uint64_t step = 0;   // at its birth
  Phase phase = Phase::kOther;
  uint8_t in_same_phase = 0;   // 1: born in the stay in a phase in which recording begins
  uint8_t waiting = 0;         // 1: its free was requested
  Role role = Role::kUnknown;  // as stated of the whole block
  StringId path = 0;
};

// What a card did and when, by CUPTI (docs/cupti.md). It comes some time after it happened, with
// its own times, in the clock of all events.
struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  int32_t device = 0;
  uint64_t stream = 0;  // CUPTI's number, no handle
  uint64_t start_ns = 0;
  uint64_t duration_ns = 0;  // 0 of memory
  uint64_t bytes = 0;        // of copies, fills and memory
  uint64_t address = 0;      // of memory
  StringId name = 0;         // of a kernel, as the compiler wrote it; of a copy "HtoD"
  // Sequence number of what its thread allocated last before it launched this; 0: not known.
  uint64_t block = 0;
};

using Payload = std::variant<Allocate, FreeRequested, FreeCompleted, Reserve, Map, Unmap, Relabel,
                             Step, PhaseChange, TagChange, Annotate, OutOfMemory, CardSample, Lost,
                             OutsideAllocate, OutsideFree, Resume, Alive, Activity>;

// A visitor of payloads names so which kinds it ignores: a new kind does not compile until each
// visitor has decided what it is to it.
template <typename Kind, typename... Kinds>
concept OneOf = (std::same_as<Kind, Kinds> || ...);

struct Event {
  uint64_t sequence = 0;  // order in which things happened in the process
  uint64_t time_ns = 0;   // since the trace began, monotonic clock
  Payload payload;
};

// One frame of a stack.
struct Frame {
  std::string file;
  std::string function;
  uint32_t line = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_EVENT_H_
