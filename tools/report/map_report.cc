// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/map_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::MapPiece;
using analysis::MapSegment;
using nlohmann::ordered_json;

constexpr size_t kStripStart = 38;

// Returns the sign for a cell of a strip, which shows the role or hole that has most of its bytes.
constexpr char kHoleSign = '.';
constexpr char kWaitingSign = '~';
char SignOf(trace::Role role) {
  constexpr std::string_view kSigns = "?PGSAitWKCbL";  // in the order of trace::Role
  const auto index = static_cast<size_t>(role);
  return index < kSigns.size() ? kSigns[index] : '?';
}

char SignOf(const MapPiece& piece) {
  if (piece.kind == MapPiece::Kind::kHole) return kHoleSign;
  return piece.kind == MapPiece::Kind::kWaiting ? kWaitingSign : SignOf(piece.role);
}

std::string Address(uint64_t address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
  return text.data();
}

// Returns the sign with most of [begin, end). `piece` is the piece at `begin`, and moves on to
// `end`.
char DominantSign(const MapSegment& segment, uint64_t begin, uint64_t end, size_t& piece) {
  std::array<uint64_t, 128> bytes{};
  while (piece < segment.pieces.size()) {
    const MapPiece& at = segment.pieces[piece];
    const uint64_t from = std::max(at.offset, begin);
    const uint64_t to = std::min(at.offset + at.bytes, end);
    if (to > from) bytes[static_cast<unsigned char>(SignOf(at))] += to - from;
    if (at.offset + at.bytes > end) break;
    ++piece;
  }
  return static_cast<char>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

std::string Strip(const MapSegment& segment) {
  const size_t cells = Columns() - kStripStart;
  std::string strip;
  size_t piece = 0;
  for (size_t cell = 0; cell < cells; ++cell) {
    const auto bound = [&](size_t at) {
      return static_cast<uint64_t>(static_cast<double>(segment.bytes) * static_cast<double>(at) /
                                   static_cast<double>(cells));
    };
    const uint64_t end = cell + 1 == cells ? segment.bytes : bound(cell + 1);
    strip += end > bound(cell) ? DominantSign(segment, bound(cell), end, piece) : ' ';
  }
  return strip;
}

std::string_view KindName(MapPiece::Kind kind) {
  if (kind == MapPiece::Kind::kHole) return "hole";
  return kind == MapPiece::Kind::kWaiting ? "waiting" : "block";
}

}  // namespace

Section MapSection(const analysis::ExplainedLayout& layout) {
  Section section{
      .id = "segments", .title = Message("SEGMENTS"), .subtitle = Message("by address")};
  if (!layout.map || layout.map->empty()) return section;
  const TableUnit unit = UnitFor(1);
  Table table;
  table.columns = {{"", 24}, {std::string(unit.name), 9, TableColumn::Kind::kFigure}, {"", 0}};
  for (const MapSegment& segment : *layout.map) {
    table.rows.push_back({.cells = {Address(segment.address), FormatFigure(segment.bytes, unit),
                                    "|" + Strip(segment)}});
  }
  std::string signs;
  for (const trace::Role role :
       {trace::Role::kParameter, trace::Role::kGradient, trace::Role::kOptimizerState,
        trace::Role::kActivation, trace::Role::kInput, trace::Role::kTemporary,
        trace::Role::kWorkspace, trace::Role::kKvCache, trace::Role::kComm, trace::Role::kBuffer,
        trace::Role::kCheckpoint, trace::Role::kUnknown}) {
    signs += (signs.empty() ? "" : ", ") + std::string(1, SignOf(role)) + " " + RoleWords(role);
  }
  section.parts = {std::move(table),
                   Note{Message("each sign shows what takes most of its part: $0, "
                                "~ waiting for a stream, . free",
                                signs)}};
  return section;
}

ordered_json SegmentsJson(const analysis::ExplainedLayout& layout) {
  ordered_json segments = ordered_json::array();
  for (const MapSegment& segment : *layout.map) {
    ordered_json pieces = ordered_json::array();
    for (const MapPiece& piece : segment.pieces) {
      ordered_json json = {{"offset", piece.offset},
                           {"bytes", piece.bytes},
                           {"kind", std::string(KindName(piece.kind))}};
      if (piece.kind != MapPiece::Kind::kHole) {
        json["role"] = std::string(RoleName(piece.role));
        json["site"] = piece.site;
      }
      pieces.push_back(std::move(json));
    }
    segments.push_back({{"address", segment.address},
                        {"bytes", segment.bytes},
                        {"stream", segment.stream},
                        {"expandable", segment.expandable},
                        {"pieces", std::move(pieces)}});
  }
  return segments;
}

}  // namespace memtrace::report
