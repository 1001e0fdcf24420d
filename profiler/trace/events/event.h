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

// The use of a block; roles.def describes each.
enum class Role : uint8_t {
#define MEMTRACE_ROLE(name, text, meaning) k##name,
#include "profiler/trace/vocabulary/roles.def"
#undef MEMTRACE_ROLE
};
// A role above these comes from a later writer and reads as kUnknown.
inline constexpr size_t kRoleCount = static_cast<size_t>(Role::kCheckpoint) + 1;
std::string_view RoleName(Role role);  // "optimizer_state"

// The activity of the program. It is process-wide: autograd's threads are in the phase of the
// thread that waits for them.
enum class Phase : uint8_t {
#define MEMTRACE_PHASE(name, text) k##name,
#include "profiler/trace/vocabulary/phases.def"
#undef MEMTRACE_PHASE
};
inline constexpr size_t kPhaseCount = static_cast<size_t>(Phase::kGenerate) + 1;
std::string_view PhaseName(Phase phase);

// The kinds of memory that a program can take from the driver itself. The first three are card
// memory.
enum class OutsideKind : uint8_t {
  kDevice,         // cudaMalloc
  kStreamOrdered,  // cudaMallocAsync
  kPhysical,       // cuMemCreate; its address is the handle
  kManaged,
  kHost,        // pinned host memory
  kRegistered,  // existing host memory, pinned later
};
std::string_view OutsideKindName(OutsideKind kind);  // "stream_ordered"

// The kinds of a card's activities.
enum class ActivityKind : uint8_t {
  kKernel,
  kCopy,
  kFill,
  kMemoryGiven,  // by the driver, to any caller
  kMemoryTakenBack,
};
std::string_view ActivityKindName(ActivityKind kind);  // "memory_given"

// The ways in which memory moves out of the way, or back.
enum class MoveKind : uint8_t {
  kGaveWay,          // free memory was unmapped for another library of the process
  kGaveToNeighbour,  // the same for another process
  kSlept,
  kWoke,
  kSpilled,
  kCameBack,
  kTookTurns,
};
inline constexpr size_t kMoveKindCount = static_cast<size_t>(MoveKind::kTookTurns) + 1;
std::string_view MoveKindName(MoveKind kind);  // "gave_way"

// Index into the file's string table; 0 is the empty string. A string lost with a damaged block
// reads "(lost)".
using StringId = uint32_t;
// Index into the file's stacks; 0 means that no stack was taken.
using StackId = uint32_t;

// Sizes are bytes; addresses are the card's. `stream` is the handle's value, 0 the legacy default
// stream.
struct Allocate {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t requested = 0;  // as requested
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
// The block can be reused: at once after the request, or once the streams that used it have reached
// the free.
struct FreeCompleted {
  int32_t device = 0;
  uint64_t address = 0;
};
// Reserves address space of a segment; it has no memory yet.
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
// Gives [address, address + size) of the block there this role, owner and path, from its birth on.
// The range may be a part of a block (flat buffers); a size of 0 means the block from `address` to
// its end. The latest label wins.
struct Relabel {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t size = 0;
  Role role = Role::kUnknown;  // an empty field keeps the earlier statement (label.h)
  StringId owner = 0;
  StringId path = 0;  // of the parameter, for parameters, gradients and optimizer states
};
struct Step {
  uint64_t number = 0;  // the step that begins; the first is 1
};
struct PhaseChange {
  Phase phase = Phase::kOther;
  // Counted from 1 in its step, only for forward, recompute and backward. 0 in other phases, and
  // from writers that did not record it.
  uint64_t micro_batch = 0;
};
struct TagChange {
  uint32_t thread = 0;
  StringId owner = 0;
};
// A fact about the run or the present, by key: "optimizer.class", "simulation.kernel_launches".
// format.md lists the keys. The latest value of a key counts.
struct Annotate {
  StringId key = 0;
  StringId value = 0;
};

// One card at one moment. Every entry comes from its own source; the reader must cope with sums
// that do not add up (docs/reference/report.md, "unexplained"). Blocks in use whose memory sleeps,
// or of which the host has a part, are in none of the card's figures until they are back: their
// memory is among the last four, which take nothing of the card (off_card.def).
struct CardLedger {
  int32_t device = 0;
  uint64_t total = 0;
  uint64_t free = 0;     // as the driver reports it
  uint64_t context = 0;  // driver's own, for this process
  uint64_t other_processes = 0;
  uint64_t outside_allocator = 0;  // allocated by this process outside the allocator
  uint64_t reserved = 0;           // mapped by the allocator
  uint64_t live_requested = 0;     // in use on the card
  uint64_t live_allocated = 0;     // the same, after rounding
  uint64_t stream_wait = 0;
  uint64_t cached = 0;
  uint64_t holes = 0;
  uint64_t largest_hole = 0;
  uint64_t private_pools = 0;  // free, but only for graphs and pools that are in use
  uint64_t asleep = 0;
  uint64_t on_host = 0;
  uint64_t host_copies = 0;
  uint64_t host_pooled = 0;
};
struct OutOfMemory {
  int32_t device = 0;
  uint64_t stream = 0;
  uint64_t requested = 0;
  uint64_t allocated = 0;
  uint64_t obtainable = 0;  // the largest request that would have succeeded
  uint64_t limit = ~uint64_t{0};
  StackId stack = 0;
  StringId owner = 0;
  StringId module = 0;
  std::vector<CardLedger> cards;  // every card of the process, including the failing one
};
struct CardSample {
  CardLedger card;
};
// Events that could not be written.
struct Lost {
  uint64_t events = 0;
  StringId reason = 0;
};

// Memory that the process took from the driver outside the allocator of the other events.
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

// Recording begins here, in the middle of the program: earlier events were dropped, as requested.
// Alive, Map, Annotate and other events that restate the state follow it.
struct Resume {
  uint64_t step = 0;
  Phase phase = Phase::kOther;
  uint8_t forward_seen = 0;  // 1: a forward pass had begun
  uint64_t micro_batch = 0;  // the latest one begun in the step; 0: none
};
// A block that lived when recording began.
struct Alive {
  Allocate block;
  uint64_t birth = 0;  // sequence number of its allocation
  uint64_t step = 0;   // at its birth
  Phase phase = Phase::kOther;
  uint8_t in_same_phase = 0;   // 1: recording begins in the stay in a phase in which it was born
  uint8_t waiting = 0;         // 1: its free was requested
  Role role = Role::kUnknown;  // as stated for the whole block
  StringId path = 0;
};

// An activity of a card, by CUPTI (docs/design/cupti.md). It is recorded some time after it
// happened, with its own times, which use the clock of all events.
struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  int32_t device = 0;
  uint64_t stream = 0;  // CUPTI's number, not a handle
  uint64_t start_ns = 0;
  uint64_t duration_ns = 0;  // 0 for memory
  uint64_t bytes = 0;        // only for copies, fills and memory
  uint64_t address = 0;      // only for memory
  StringId name = 0;         // of a kernel, as the compiler wrote it; of a copy "HtoD"
  // Sequence number of the last allocation of its thread before the launch; 0: not known.
  uint64_t block = 0;
};

// Memory of a card that moved out of the way, or back.
struct Moved {
  int32_t device = 0;
  MoveKind kind = MoveKind::kGaveWay;
  uint64_t bytes = 0;
  uint64_t host_bytes = 0;  // copied to or from the host
  uint64_t duration_ns = 0;
  StringId owner = 0;  // of the memory that slept or was spilled
  StringId to = 0;     // "process 4711 (rank 1)"; 0: the library at `stack`
  StackId stack = 0;
};

using Payload = std::variant<Allocate, FreeRequested, FreeCompleted, Reserve, Map, Unmap, Relabel,
                             Step, PhaseChange, TagChange, Annotate, OutOfMemory, CardSample, Lost,
                             OutsideAllocate, OutsideFree, Resume, Alive, Activity, Moved>;

// True for the kinds listed. A visitor of payloads lists the kinds it ignores, so that a new kind
// does not compile until each visitor handles it.
template <typename Kind, typename... Kinds>
concept OneOf = (std::same_as<Kind, Kinds> || ...);

struct Event {
  uint64_t sequence = 0;  // the order of events in the process
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
