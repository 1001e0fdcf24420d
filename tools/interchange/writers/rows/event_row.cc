// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/event_row.h"

#include <array>
#include <variant>

#include "tools/interchange/writers/rows/event_detail.h"

namespace memtrace::interchange {
namespace {

// The names are in the order of trace::Payload.
constexpr std::array<std::string_view, 20> kKinds = {
    "alloc",        "free_requested", "free_completed", "reserve",  "map",
    "unmap",        "relabel",        "step",           "phase",    "tag",
    "annotate",     "out_of_memory",  "sample",         "lost",     "outside",
    "outside_free", "resume",         "alive",          "activity", "moved"};
static_assert(kKinds.size() == std::variant_size_v<trace::Payload>);

Cell StackCell(trace::StackId id) { return id == 0 ? Cell() : Cell(StackRef{id}); }

// Fills in what the event itself says.
class Filler {
 public:
  explicit Filler(EventRow& row) : row_(row) {}

  void operator()(const trace::Allocate& allocation) {
    Place(allocation, allocation.requested);
    row_.allocated = allocation.allocated;
    row_.stream = allocation.stream;
    row_.pool = uint64_t{allocation.pool};
    Origin(allocation);
  }
  void operator()(const trace::Alive& alive) { (*this)(alive.block); }
  void operator()(const trace::FreeRequested& free) { Place(free); }
  void operator()(const trace::FreeCompleted& free) { Place(free); }
  void operator()(const trace::Reserve& reserve) {
    Place(reserve, reserve.size);
    row_.stream = reserve.stream;
  }
  void operator()(const trace::Map& map) {
    Place(map, map.size);
    row_.stream = map.stream;
  }
  void operator()(const trace::Unmap& unmap) { Place(unmap, unmap.size); }
  void operator()(const trace::Relabel& relabel) {
    Place(relabel);
    if (relabel.size != 0) row_.size = relabel.size;
    row_.role = trace::RoleName(relabel.role);
    row_.owner = NameCell(relabel.owner);
    row_.path = NameCell(relabel.path);
  }
  void operator()(const trace::TagChange& change) { row_.owner = NameCell(change.owner); }
  void operator()(const trace::OutOfMemory& failed) {
    row_.device = int64_t{failed.device};
    row_.size = failed.requested;
    row_.allocated = failed.allocated;
    row_.stream = failed.stream;
    Origin(failed);
  }
  void operator()(const trace::CardSample& sample) { row_.device = int64_t{sample.card.device}; }
  void operator()(const trace::OutsideAllocate& outside) {
    Place(outside, outside.bytes);
    Origin(outside);
  }
  void operator()(const trace::OutsideFree& outside) { Place(outside); }
  void operator()(const trace::Activity& activity) {
    row_.device = int64_t{activity.device};
    row_.stream = activity.stream;
    if (activity.address != 0) row_.address = Address{activity.address};
    if (activity.bytes != 0) row_.size = activity.bytes;
  }
  void operator()(const trace::Moved& moved) {
    row_.device = int64_t{moved.device};
    row_.size = moved.bytes;
    row_.owner = NameCell(moved.owner);
    row_.stack = StackCell(moved.stack);
  }
  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::Step, trace::PhaseChange, trace::Annotate, trace::Lost, trace::Resume>
          Ignored>
  void operator()(const Ignored&) {}

 private:
  template <typename E>
  void Place(const E& event) {
    row_.device = int64_t{event.device};
    row_.address = Address{event.address};
  }
  template <typename E>
  void Place(const E& event, uint64_t size) {
    Place(event);
    row_.size = size;
  }
  template <typename E>
  void Origin(const E& event) {
    row_.stack = StackCell(event.stack);
    row_.owner = NameCell(event.owner);
    row_.module = NameCell(event.module);
  }

  EventRow& row_;
};

// Fills in what the block turned out to be, for its own events; a label itself says what it states.
void FillBlock(EventRow& row, const trace::Event& event, const WalkedBlock& block,
               const ExportedRun& run) {
  row.block = block.number;
  if (std::holds_alternative<trace::Relabel>(event.payload)) return;
  const Identity& identity = run.survey.blocks().Main(block.number);
  row.size = block.allocation.requested;
  row.allocated = block.allocation.allocated;
  row.role = trace::RoleName(identity.role);
  row.role_known = analysis::EvidenceName(identity.evidence);
  row.owner = NameCell(identity.owner);
  row.path = NameCell(identity.path);
}

}  // namespace

EventRow RowOf(const trace::Event& event, const BlockWalk& walk, const ExportedRun& run) {
  EventRow row;
  row.when = walk.now();
  row.kind = kKinds[event.payload.index()];
  std::visit(Filler(row), event.payload);
  if (walk.block() != nullptr) FillBlock(row, event, *walk.block(), run);
  row.detail = DetailOf(event, run.events);
  return row;
}

void ForEachRow(const ExportedRun& run, const std::function<void(const EventRow&)>& visit) {
  BlockWalk walk;
  run.events.ForEach([&](const trace::Event& event) {
    walk.Apply(event);
    visit(RowOf(event, walk, run));
  });
}

const std::array<Column<EventRow>, 19> kEventColumns = {{
    {"sequence", ColumnType::kInteger,
     [](const EventRow& row) -> Cell { return row.when.sequence; }},
    {"time_ns", ColumnType::kInteger, [](const EventRow& row) -> Cell { return row.when.time_ns; }},
    {"event", ColumnType::kText, [](const EventRow& row) -> Cell { return row.kind; }},
    {"device", ColumnType::kInteger, [](const EventRow& row) { return row.device; }},
    {"address", ColumnType::kAddress, [](const EventRow& row) { return row.address; }},
    {"size", ColumnType::kInteger, [](const EventRow& row) { return row.size; }},
    {"allocated", ColumnType::kInteger, [](const EventRow& row) { return row.allocated; }},
    {"stream", ColumnType::kInteger, [](const EventRow& row) { return row.stream; }},
    {"pool", ColumnType::kInteger, [](const EventRow& row) { return row.pool; }},
    {"block", ColumnType::kInteger, [](const EventRow& row) { return row.block; }},
    {"step", ColumnType::kInteger, [](const EventRow& row) -> Cell { return row.when.at.step; }},
    {"phase", ColumnType::kText,
     [](const EventRow& row) -> Cell { return trace::PhaseName(row.when.at.phase); }},
    {"role", ColumnType::kText, [](const EventRow& row) { return row.role; }},
    {"role_known", ColumnType::kText, [](const EventRow& row) { return row.role_known; }},
    {"owner", ColumnType::kName, [](const EventRow& row) { return row.owner; }},
    {"module", ColumnType::kName, [](const EventRow& row) { return row.module; }},
    {"path", ColumnType::kName, [](const EventRow& row) { return row.path; }},
    {"stack", ColumnType::kStack, [](const EventRow& row) { return row.stack; }},
    {"detail", ColumnType::kText,
     [](const EventRow& row) -> Cell {
       return row.detail.empty() ? Cell() : Cell(std::string_view(row.detail));
     }},
}};

}  // namespace memtrace::interchange
