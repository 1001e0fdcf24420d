// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_SCHEMA_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_SCHEMA_H_

namespace memtrace::interchange {

// "mtrc", and the version of the schema (docs/export.md): in the file's application_id and
// user_version.
inline constexpr int kSqliteApplication = 0x6d747263;
inline constexpr int kSqliteSchema = 1;

// The tables besides events and blocks, whose columns are kEventColumns and kBlockColumns.
inline constexpr const char* kSqliteTables = R"sql(
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

inline constexpr const char* kSqliteViews = R"sql(
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

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_SQLITE_SCHEMA_H_
