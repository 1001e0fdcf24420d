// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/sqlite_writer.h"

#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "profiler/trace/events/visit.h"
#include "tools/analysis/replayed/mapped_segments.h"
#include "tools/interchange/writers/rows/block_row.h"
#include "tools/interchange/writers/rows/event_detail.h"
#include "tools/interchange/writers/rows/event_row.h"
#include "tools/interchange/writers/rows/run_json.h"
#include "tools/interchange/writers/sqlite_database.h"

namespace memtrace::interchange {
namespace {

// "mtrc", and the version of the schema (docs/reference/export.md): in the file's application_id
// and user_version.
constexpr int kSqliteApplication = 0x6d747263;
constexpr int kSqliteSchema = 1;

// The tables besides events and blocks, whose columns are kEventColumns and kBlockColumns.
constexpr const char* kSqliteTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE strings(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE frames(id INTEGER PRIMARY KEY, function TEXT, file TEXT, line INTEGER);
CREATE TABLE stacks(stack INTEGER, depth INTEGER, frame INTEGER, PRIMARY KEY(stack, depth)) WITHOUT ROWID;
CREATE TABLE parts(block INTEGER, offset INTEGER, bytes INTEGER, role TEXT, role_known TEXT,
                   owner INTEGER, path INTEGER);
CREATE TABLE segments(device INTEGER, address INTEGER, size INTEGER, stream INTEGER,
                      expandable INTEGER, mapped_sequence INTEGER, mapped_ns INTEGER,
                      unmapped_sequence INTEGER, unmapped_ns INTEGER);
CREATE TABLE steps(number INTEGER, sequence INTEGER, time_ns INTEGER);
CREATE TABLE ooms(sequence INTEGER, time_ns INTEGER, device INTEGER, requested INTEGER,
                  allocated INTEGER, obtainable INTEGER, card_limit INTEGER, step INTEGER,
                  phase TEXT, owner INTEGER, module INTEGER, stack INTEGER, cards TEXT);
CREATE TABLE peaks(device INTEGER PRIMARY KEY, sequence INTEGER, time_ns INTEGER, bytes INTEGER,
                   step INTEGER, phase TEXT);
)sql";

constexpr const char* kSqliteViews = R"sql(
CREATE VIEW named_blocks AS
  SELECT b.block, b.device, b.address, b.size, b.allocated, b.stream, b.pool, b.birth_sequence,
         b.birth_ns, b.birth_step, b.birth_phase, b.death_sequence, b.death_ns, b.role,
         b.role_known, o.text AS owner, m.text AS module, p.text AS path, b.stack, b.at_peak
  FROM blocks b LEFT JOIN strings o ON o.id = b.owner LEFT JOIN strings m ON m.id = b.module
                LEFT JOIN strings p ON p.id = b.path;
CREATE VIEW peak_blocks AS SELECT * FROM named_blocks WHERE at_peak = 1;
CREATE VIEW peak_parts AS
  SELECT b.device, b.block, b.size AS bytes, b.role, b.role_known, b.owner FROM blocks b
  WHERE b.at_peak = 1 AND b.block NOT IN (SELECT block FROM parts)
  UNION ALL
  SELECT b.device, b.block, p.bytes, p.role, p.role_known, p.owner
  FROM parts p JOIN blocks b ON b.block = p.block WHERE b.at_peak = 1;
CREATE VIEW peak_by_role AS
  SELECT device, role, role_known, sum(bytes) AS bytes, count(DISTINCT block) AS blocks
  FROM peak_parts GROUP BY device, role, role_known ORDER BY device, bytes DESC;
CREATE VIEW peak_by_owner AS
  SELECT p.device, s.text AS owner, sum(p.bytes) AS bytes, count(DISTINCT p.block) AS blocks
  FROM peak_parts p LEFT JOIN strings s ON s.id = p.owner
  GROUP BY p.device, p.owner ORDER BY p.device, bytes DESC;
CREATE VIEW stack_lines AS
  SELECT s.stack, s.depth, f.function, f.file, f.line FROM stacks s JOIN frames f ON f.id = s.frame;
)sql";

template <typename Columns>
std::string CreateTable(const std::string& name, const Columns& columns) {
  std::string sql;
  for (const auto& column : columns) {
    sql += sql.empty() ? "CREATE TABLE " + name + "(" : ", ";
    sql += column.name;
    sql += column.type == ColumnType::kText ? " TEXT" : " INTEGER";
    if (column.name == "sequence" || column.name == "block")
      sql += name == "blocks" ? " PRIMARY KEY" : "";
  }
  return sql + ")";
}

// Names and stacks, each written when it is first needed.
class SqliteNames {
 public:
  SqliteNames(SqliteDatabase& database, const analysis::EventSource& source)
      : source_(source),
        string_(database, "strings", 2),
        frame_(database, "frames", 4),
        stack_(database, "stacks", 3) {}

  int64_t String(trace::StringId id) {
    if (strings_.insert(id).second) string_.Unsigned(id).Text(ValidUtf8(source_.String(id))).Done();
    return id;
  }

  int64_t Stack(trace::StackId id) {
    if (!stacks_.insert(id).second) return id;
    int64_t depth = 0;  // from the innermost
    for (const trace::Frame& frame : source_.Stack(id)) {
      stack_.Unsigned(id).Integer(depth++).Integer(Frame(frame)).Done();
    }
    return id;
  }

 private:
  int64_t Frame(const trace::Frame& frame) {
    const auto [entry, is_new] = frames_.try_emplace(
        frame.function + '\0' + frame.file + '\0' + std::to_string(frame.line), frames_.size() + 1);
    if (is_new) {
      frame_.Integer(entry->second).Text(ValidUtf8(frame.function)).Text(ValidUtf8(frame.file));
      frame_.Integer(frame.line).Done();
    }
    return entry->second;
  }

  const analysis::EventSource& source_;
  SqliteInsert string_;
  SqliteInsert frame_;
  SqliteInsert stack_;
  absl::flat_hash_set<trace::StringId> strings_;
  absl::flat_hash_set<trace::StackId> stacks_;
  absl::flat_hash_map<std::string, int64_t> frames_;
};

// The rows of a table whose columns are given as data.
class SqliteRows {
 public:
  SqliteRows(SqliteDatabase& database, SqliteNames& names, const std::string& table, size_t columns)
      : names_(names), insert_(database, table, columns) {}

  template <typename Row, typename Columns>
  void Add(const Row& row, const Columns& columns) {
    for (const auto& column : columns) {
      std::visit([this](const auto& cell) { this->Bind(cell); }, column.cell(row));
    }
    insert_.Done();
  }

 private:
  void Bind(std::monostate) { insert_.Null(); }
  void Bind(int64_t value) { insert_.Integer(value); }
  void Bind(uint64_t value) { insert_.Unsigned(value); }
  void Bind(Address address) { insert_.Unsigned(address.value); }
  void Bind(Name name) { insert_.Integer(names_.String(name.id)); }
  void Bind(StackRef stack) { insert_.Integer(names_.Stack(stack.id)); }
  void Bind(std::string_view text) { insert_.Text(text); }

  SqliteNames& names_;
  SqliteInsert insert_;
};

class SqliteTables {
 public:
  SqliteTables(SqliteDatabase& database, const ExportedRun& run)
      : run_(run),
        names_(database, run.events),
        meta_(database, "meta", 2, "INSERT OR REPLACE"),
        events_(database, names_, "events", kEventColumns.size()),
        blocks_(database, names_, "blocks", kBlockColumns.size()),
        parts_(database, "parts", 7),
        segments_(database, "segments", 9),
        steps_(database, "steps", 3),
        ooms_(database, "ooms", 13),
        peaks_(database, "peaks", 6) {}

  void Write() {
    WriteMeta();
    run_.events.ForEach([this](const trace::Event& event) { Apply(event); });
    walk_.ForEachLiving([this](const WalkedBlock& block) { AddBlock(block, std::nullopt); });
    mapped_.ForEach(false, [this](const analysis::MappedSegment& segment) { AddSegment(segment); });
  }

 private:
  void WriteMeta() {
    meta_.Text("schema").Text("memtrace.sqlite/1").Done();
    const nlohmann::ordered_json facts = RunJson(run_);
    for (const auto& [key, value] : facts.items()) {
      meta_.Text(key);
      value.is_string() ? meta_.Text(ValidUtf8(value.get<std::string>()))
                        : meta_.Integer(value.get<int64_t>());
      meta_.Done();
    }
    for (const auto& [key, value] : run_.survey.timeline().annotations()) {
      meta_.Text("annotation." + ValidUtf8(key)).Text(ValidUtf8(value)).Done();
    }
  }

  void Apply(const trace::Event& event) {
    walk_.Apply(event);
    events_.Add(RowOf(event, walk_, run_), kEventColumns);
    if (walk_.ended() != nullptr) AddBlock(*walk_.ended(), walk_.now());
    mapped_.Apply(event, [this](const analysis::MappedSegment& segment) { AddSegment(segment); });
    trace::Visit([this](const auto& payload) { Apply(payload); }, event.payload);
    for (const auto& [device, card] : run_.survey.timeline().cards()) {
      if (card.peak_event == walk_.ordinal()) AddPeak(device, card.peak);
    }
  }

  void AddBlock(const WalkedBlock& block, std::optional<Moment> death) {
    blocks_.Add(RowOf(block, death, run_), kBlockColumns);
    const auto parts = run_.survey.blocks().Parts(block.number, block.allocation.requested);
    if (parts.size() < 2) return;
    for (const Part& part : parts) {
      parts_.Unsigned(block.number).Unsigned(part.offset).Unsigned(part.bytes);
      parts_.Text(trace::RoleName(part.identity.role))
          .Text(analysis::EvidenceName(part.identity.evidence));
      AddName(parts_, part.identity.owner);
      AddName(parts_, part.identity.path);
      parts_.Done();
    }
  }

  void AddName(SqliteInsert& insert, trace::StringId id) {
    id == 0 ? insert.Null() : insert.Integer(names_.String(id));
  }

  void AddSegment(const analysis::MappedSegment& segment) {
    segments_.Integer(segment.device).Unsigned(segment.address).Unsigned(segment.size);
    segments_.Unsigned(segment.stream).Integer(segment.expandable ? 1 : 0);
    segments_.Unsigned(segment.mapped.sequence).Unsigned(segment.mapped.time_ns);
    if (segment.unmapped) {
      segments_.Unsigned(segment.unmapped->sequence).Unsigned(segment.unmapped->time_ns);
    } else {
      segments_.Null().Null();
    }
    segments_.Done();
  }

  void Apply(const trace::Step& step) {
    const Moment& now = walk_.now();
    steps_.Unsigned(step.number).Unsigned(now.sequence).Unsigned(now.time_ns).Done();
  }

  void Apply(const trace::OutOfMemory& failed) {
    const Moment& now = walk_.now();
    nlohmann::ordered_json cards = nlohmann::ordered_json::array();
    for (const trace::CardLedger& card : failed.cards) cards.push_back(LedgerJson(card));
    ooms_.Unsigned(now.sequence).Unsigned(now.time_ns).Integer(failed.device);
    ooms_.Unsigned(failed.requested).Unsigned(failed.allocated).Unsigned(failed.obtainable);
    failed.limit == ~uint64_t{0} ? ooms_.Null() : ooms_.Unsigned(failed.limit);
    ooms_.Unsigned(now.at.step).Text(trace::PhaseName(now.at.phase));
    AddName(ooms_, failed.owner);
    AddName(ooms_, failed.module);
    failed.stack == 0 ? ooms_.Null() : ooms_.Integer(names_.Stack(failed.stack));
    ooms_.Text(CompactJson(cards)).Done();
  }

  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted, trace::Reserve,
                   trace::Map, trace::Unmap, trace::Relabel, trace::PhaseChange, trace::TagChange,
                   trace::Annotate, trace::CardSample, trace::Lost, trace::OutsideAllocate,
                   trace::OutsideFree, trace::Resume, trace::Alive, trace::Activity, trace::Moved>
          Ignored>
  void Apply(const Ignored&) {}

  void AddPeak(int32_t device, uint64_t bytes) {
    const Moment& now = walk_.now();
    peaks_.Integer(device).Unsigned(now.sequence).Unsigned(now.time_ns).Unsigned(bytes);
    peaks_.Unsigned(now.at.step).Text(trace::PhaseName(now.at.phase)).Done();
  }

  const ExportedRun& run_;
  BlockWalk walk_;
  analysis::MappedSegments mapped_;
  SqliteNames names_;
  SqliteInsert meta_;
  SqliteRows events_;
  SqliteRows blocks_;
  SqliteInsert parts_;
  SqliteInsert segments_;
  SqliteInsert steps_;
  SqliteInsert ooms_;
  SqliteInsert peaks_;
};

}  // namespace

absl::Status WriteSqlite(const ExportedRun& run, const std::string& path) {
  SqliteDatabase database(path);
  database.Execute("PRAGMA application_id=" + std::to_string(kSqliteApplication));
  database.Execute("PRAGMA user_version=" + std::to_string(kSqliteSchema));
  database.Execute(CreateTable("events", kEventColumns));
  database.Execute(CreateTable("blocks", kBlockColumns));
  database.Execute(kSqliteTables);
  SqliteTables(database, run).Write();
  database.Execute("CREATE INDEX parts_block ON parts(block)");
  database.Execute("CREATE INDEX events_block ON events(block)");
  database.Execute(kSqliteViews);
  return database.Close();
}

}  // namespace memtrace::interchange
