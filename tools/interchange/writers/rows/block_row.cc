// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/block_row.h"

namespace memtrace::interchange {
namespace {

using Row = BlockRow;
constexpr ColumnType kInteger = ColumnType::kInteger;

}  // namespace

BlockRow RowOf(const WalkedBlock& block, std::optional<Moment> death, const ExportedRun& run) {
  BlockRow row{.block = block,
               .death = death,
               .identity = run.survey.blocks().Main(block.number),
               .at_peak = false};
  const auto& cards = run.survey.timeline().cards();
  const auto card = cards.find(block.allocation.device);
  if (card == cards.end()) return row;
  const uint64_t peak = card->second.peak_event;
  const auto& end = block.free_requested ? block.free_requested : death;
  row.at_peak = block.birth.ordinal <= peak && (!end || end->ordinal > peak);
  return row;
}

const std::array<Column<BlockRow>, 24> kBlockColumns = {{
    {"block", kInteger, [](const Row& row) -> Cell { return row.block.number; }},
    {"device", kInteger,
     [](const Row& row) -> Cell { return int64_t{row.block.allocation.device}; }},
    {"address", ColumnType::kAddress,
     [](const Row& row) -> Cell { return Address{row.block.allocation.address}; }},
    {"size", kInteger, [](const Row& row) -> Cell { return row.block.allocation.requested; }},
    {"allocated", kInteger, [](const Row& row) -> Cell { return row.block.allocation.allocated; }},
    {"stream", kInteger, [](const Row& row) -> Cell { return row.block.allocation.stream; }},
    {"pool", kInteger, [](const Row& row) -> Cell { return uint64_t{row.block.allocation.pool}; }},
    {"birth_sequence", kInteger, [](const Row& row) -> Cell { return row.block.birth.sequence; }},
    {"birth_ns", kInteger, [](const Row& row) -> Cell { return row.block.birth.time_ns; }},
    {"birth_step", kInteger, [](const Row& row) -> Cell { return row.block.birth.at.step; }},
    {"birth_phase", ColumnType::kText,
     [](const Row& row) -> Cell { return trace::PhaseName(row.block.birth.at.phase); }},
    {"free_requested_sequence", kInteger,
     [](const Row& row) {
       return row.block.free_requested ? Cell(row.block.free_requested->sequence) : Cell();
     }},
    {"free_requested_ns", kInteger,
     [](const Row& row) {
       return row.block.free_requested ? Cell(row.block.free_requested->time_ns) : Cell();
     }},
    {"death_sequence", kInteger,
     [](const Row& row) { return row.death ? Cell(row.death->sequence) : Cell(); }},
    {"death_ns", kInteger,
     [](const Row& row) { return row.death ? Cell(row.death->time_ns) : Cell(); }},
    {"death_step", kInteger,
     [](const Row& row) { return row.death ? Cell(row.death->at.step) : Cell(); }},
    {"role", ColumnType::kText,
     [](const Row& row) -> Cell { return trace::RoleName(row.identity.role); }},
    {"role_known", ColumnType::kText,
     [](const Row& row) -> Cell { return analysis::EvidenceName(row.identity.evidence); }},
    {"owner", ColumnType::kName, [](const Row& row) { return NameCell(row.identity.owner); }},
    {"module", ColumnType::kName,
     [](const Row& row) { return NameCell(row.block.allocation.module); }},
    {"path", ColumnType::kName, [](const Row& row) { return NameCell(row.identity.path); }},
    {"stack", ColumnType::kStack,
     [](const Row& row) {
       const trace::StackId stack = row.block.allocation.stack;
       return stack == 0 ? Cell() : Cell(StackRef{stack});
     }},
    {"at_peak", kInteger, [](const Row& row) -> Cell { return int64_t{row.at_peak}; }},
    {"before_trace", kInteger,
     [](const Row& row) -> Cell { return int64_t{row.block.before_trace}; }},
}};

}  // namespace memtrace::interchange
