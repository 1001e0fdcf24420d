// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/page_data.h"

#include <zlib.h>

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "nlohmann/json.hpp"
#include "tools/analysis/views/origins.h"
#include "tools/report/page/json_columns.h"
#include "tools/report/page/stack_tree.h"
#include "tools/report/words/printable.h"

namespace memtrace::report {
namespace {

using analysis::AddressRange;
using analysis::CardDetail;
using analysis::Origin;
using analysis::OriginId;
using analysis::Piece;
using nlohmann::json;

constexpr size_t kMostOfText = 300;  // the most columns of a name
constexpr size_t kMostStackNodes = 300'000;
constexpr uint64_t kMicrosecond = 1'000;

std::string Safe(std::string_view text) { return Shortened(Printable(text), kMostOfText); }

// Numbers texts; 0 is the empty one.
class Texts {
 public:
  uint32_t Of(std::string_view text) {
    const auto [entry, is_new] =
        by_text_.try_emplace(Safe(text), static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(entry->first);
    return entry->second;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_ = {""};
  absl::flat_hash_map<std::string, uint32_t> by_text_ = {{"", 0}};
};

std::string Hex(uint64_t value) { return "0x" + std::string(absl::StrFormat("%x", value)); }

// Collects the members of an object, each with its JSON.
class Members {
 public:
  Members& Add(std::string_view name, const std::string& text) {
    if (!text_.empty()) text_ += ',';
    text_ += json(name).dump() + ":" + text;
    return *this;
  }
  Members& Add(std::string_view name, uint64_t number) { return Add(name, std::to_string(number)); }
  std::string Object() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// Returns the card and event that the page's words are about.
std::string Told(const analysis::Explanation& explanation) {
  return Members()
      .Add("card", explanation.card)
      .Add("event", explanation.card_of_verdict().when.ordinal)
      .Object();
}

class DataWriter {
 public:
  DataWriter(const analysis::Explanation& explanation, const analysis::Explanation* after,
             const analysis::RunDetail& detail, const analysis::EventSource& source)
      : explanation_(explanation),
        after_(after),
        detail_(detail),
        source_(source),
        stacks_(source, kMostStackNodes) {}

  std::string Run(const std::string& file) {
    std::string cards;
    for (const CardDetail& card : detail_.cards) cards += (cards.empty() ? "" : ",") + Card(card);
    const std::string origins = OriginColumns();
    const std::string stacks = StackColumns();
    return Members()
        .Add("schema", json("memtrace.page/1").dump())
        .Add("file", json(Safe(file)).dump())
        .Add("events", explanation_.run.counts.events)
        .Add("last_ns", explanation_.run.counts.last_ns)
        .Add("told", Told(explanation_))
        .Add("after", after_ == nullptr ? "null" : Told(*after_))
        .Add("clock", Clock())
        .Add("steps", Steps())
        .Add("phases", Phases())
        .Add("cards", "[" + cards + "]")
        .Add("origins", origins)
        .Add("stacks", stacks)
        .Add("texts", json(texts_.all()).dump())
        .Object();
  }

 private:
  const analysis::UsageCurve& curve() const { return detail_.cards.front().curve; }

  std::string Clock() const {
    using Point = analysis::ClockPoint;
    JsonColumns columns;
    columns.AddDeltas("event", detail_.clock, [](const Point& of) { return of.event; });
    columns.AddDeltas("us", detail_.clock, [](const Point& of) { return of.ns / kMicrosecond; });
    return columns.Object();
  }
  std::string Steps() const {
    JsonColumns columns;
    columns.AddDeltas("event", curve().steps, [](const auto& step) { return step.event; });
    columns.AddDeltas("number", curve().steps, [](const auto& step) { return step.step; });
    return columns.Object();
  }
  std::string Phases() {
    JsonColumns columns;
    columns.AddDeltas("event", curve().phases, [](const auto& mark) { return mark.event; });
    columns.Add("name", curve().phases,
                [this](const auto& mark) { return texts_.Of(PhaseName(mark.phase)); });
    return columns.Object();
  }

  std::string Card(const CardDetail& card) {
    const size_t at = static_cast<size_t>(&card - detail_.cards.data());
    const analysis::Ledger& ledger = explanation_.cards[at].ledger;
    const bool is_known = ledger.total_known && ledger.total > 0;
    return Members()
        .Add("index", std::to_string(card.index))
        .Add("bytes", is_known ? std::to_string(ledger.total) : "null")
        .Add("columns", Columns(card.curve))
        .Add("levels", Levels(card))
        .Add("groupings", "[" + Roles(card.curve) + "," + Grouping("owner", card.by_owner) + "," +
                              Grouping("module", card.by_module) + "," +
                              Grouping("site", card.by_line) + "]")
        .Add("least_bytes", card.choice.least)
        .Add("exact", Exact(card))
        .Add("pieces", Pieces(card.pieces))
        .Add("mapped", Ranges(card.mapped))
        .Add("reserved", Ranges(card.reserved))
        .Add("failures", Failures(card.curve))
        .Add("peak", Peak(card.index))
        .Object();
  }

  static std::string Columns(const analysis::UsageCurve& curve) {
    using Column = analysis::UsageColumn;
    JsonColumns columns;
    columns.AddDeltas("first", curve.columns, [](const Column& of) { return of.first_event; });
    columns.AddDeltas("least", curve.columns, [](const Column& of) { return of.least; });
    columns.AddDeltas("most", curve.columns, [](const Column& of) { return of.most; });
    columns.AddDeltas("most_event", curve.columns, [](const Column& of) { return of.most_event; });
    columns.AddDeltas("reserved", curve.columns, [](const Column& of) { return of.reserved; });
    return columns.Object();
  }

  // Returns the levels. They are empty if every block is a piece.
  static std::string Levels(const CardDetail& card) {
    using Level = analysis::UsageLevel;
    const std::vector<Level> none;
    const std::vector<Level>& levels = card.choice.least == 0 ? none : card.curve.levels;
    JsonColumns columns;
    columns.AddDeltas("least", levels, [](const Level& of) { return of.least; });
    columns.AddDeltas("most", levels, [](const Level& of) { return of.most; });
    return "{\"events\":" + std::to_string(card.curve.events_of_level) + "," +
           columns.Object().substr(1);
  }

  static std::string GroupingText(std::string_view name, const std::string& keys,
                                  const std::vector<uint64_t>& rest) {
    JsonColumns columns;
    columns.AddDeltas("rest", rest, [](uint64_t bytes) { return bytes; });
    const std::string object = columns.Object();
    return "{\"name\":" + json(name).dump() + ",\"keys\":[" + keys + "]," + object.substr(1);
  }
  std::string Key(std::string_view name, const std::vector<uint64_t>& bytes) {
    JsonColumns columns;
    columns.AddDeltas("bytes", bytes, [](uint64_t of) { return of; });
    const std::string object = columns.Object();
    return "{\"name\":" + std::to_string(texts_.Of(name)) + "," + object.substr(1);
  }
  std::string Grouping(std::string_view name, const analysis::UsageGroups& groups) {
    std::string keys;
    for (const analysis::UsageKey& key : groups.keys)
      keys += (keys.empty() ? "" : ",") + Key(key.name, key.bytes);
    return GroupingText(name, keys, groups.rest);
  }
  // Writes every role that occurs; there is no rest.
  std::string Roles(const analysis::UsageCurve& curve) {
    std::string keys;
    for (size_t role = 0; role < analysis::kRoles; ++role) {
      std::vector<uint64_t> bytes;
      uint64_t all = 0;
      for (const analysis::UsageColumn& column : curve.columns)
        all |= bytes.emplace_back(column.by_role[role]);
      if (all != 0)
        keys += (keys.empty() ? "" : ",") + Key(RoleName(static_cast<trace::Role>(role)), bytes);
    }
    return GroupingText("role", keys, std::vector<uint64_t>(curve.columns.size(), 0));
  }

  static std::string Exact(const CardDetail& card) {
    json ranges = json::array();
    for (const analysis::EventRange& range : card.choice.exact)
      ranges.push_back({range.first, range.last});
    return ranges.dump();
  }

  // Writes pieces. Ends are distances from the begin; 0 means never.
  std::string Pieces(const std::vector<Piece>& pieces) {
    const auto since = [](uint64_t end, uint64_t begin) { return end == 0 ? 0 : end - begin; };
    JsonColumns columns;
    columns.AddDeltas("born", pieces, [](const Piece& piece) { return piece.born; });
    columns.Add("let_go", pieces, [&](const Piece& of) { return since(of.let_go, of.born); });
    // A free that is completed by the next event did not wait.
    columns.Add("gone", pieces, [](const Piece& of) {
      if (of.gone == 0) return uint64_t{0};
      return of.gone <= of.let_go + 1 ? 1 : of.gone - of.let_go + 1;
    });
    columns.AddDeltas("address", pieces, [](const Piece& of) { return of.address; });
    columns.Add("bytes", pieces, [](const Piece& of) { return of.bytes; });
    columns.Add("slack", pieces, [](const Piece& of) { return of.slack; });
    columns.Add("origin", pieces, [this](const Piece& of) { return Number(of.origin); });
    return columns.Object();
  }

  // Numbers origins anew, because those of small blocks are not needed.
  uint32_t Number(OriginId origin) {
    const auto [entry, is_new] =
        number_of_.try_emplace(origin, static_cast<uint32_t>(origins_.size()));
    if (is_new) origins_.push_back(origin);
    return entry->second;
  }

  static std::string Ranges(const std::vector<AddressRange>& ranges) {
    JsonColumns columns;
    columns.AddDeltas("address", ranges, [](const AddressRange& of) { return of.address; });
    columns.Add("bytes", ranges, [](const AddressRange& of) { return of.bytes; });
    columns.AddDeltas("from", ranges, [](const AddressRange& of) { return of.from; });
    columns.Add("until", ranges,
                [](const AddressRange& of) { return of.until == 0 ? 0 : of.until - of.from; });
    return columns.Object();
  }

  std::string Failures(const analysis::UsageCurve& curve) {
    using Failure = analysis::FailureMark;
    JsonColumns columns;
    columns.AddDeltas("event", curve.failures, [](const Failure& of) { return of.event; });
    columns.Add("requested", curve.failures, [](const Failure& of) { return of.requested; });
    columns.Add("allocated", curve.failures, [](const Failure& of) { return of.allocated; });
    columns.Add("obtainable", curve.failures, [](const Failure& of) { return of.obtainable; });
    columns.Add("stack", curve.failures,
                [this](const Failure& of) { return stacks_.Of(of.stack); });
    return columns.Object();
  }

  std::string Peak(int32_t card) const {
    const auto timeline = explanation_.timelines.find(card);
    const analysis::CardTimeline none;
    const analysis::CardTimeline& of =
        timeline == explanation_.timelines.end() ? none : timeline->second;
    return Members().Add("event", of.peak_event).Add("bytes", of.peak).Object();
  }

  std::string OriginColumns() {
    const auto text = [this](trace::StringId id) { return texts_.Of(source_.String(id)); };
    const auto of = [this](OriginId id) -> const Origin& { return detail_.origins.all()[id]; };
    JsonColumns columns;
    columns.Add("role", origins_,
                [&](OriginId id) { return texts_.Of(RoleName(of(id).identity.role)); });
    columns.Add("evidence", origins_,
                [&](OriginId id) { return texts_.Of(EvidenceName(of(id).identity.evidence)); });
    columns.Add("owner", origins_, [&](OriginId id) { return text(of(id).identity.owner); });
    columns.Add("path", origins_, [&](OriginId id) { return text(of(id).identity.path); });
    columns.Add("module", origins_, [&](OriginId id) { return text(of(id).module); });
    columns.Add("group", origins_,
                [&](OriginId id) { return texts_.Of(detail_.origins.Module(id)); });
    columns.Add("site", origins_, [&](OriginId id) { return texts_.Of(detail_.origins.Line(id)); });
    columns.Add("phase", origins_, [&](OriginId id) { return texts_.Of(PhaseName(of(id).phase)); });
    columns.Add("stack", origins_, [&](OriginId id) { return stacks_.Of(of(id).stack); });
    columns.Add("stream", origins_, [&](OriginId id) { return texts_.Of(Hex(of(id).stream)); });
    columns.Add("pool", origins_, [&](OriginId id) { return of(id).pool; });
    return columns.Object();
  }

  std::string StackColumns() const {
    JsonColumns columns;
    columns.Add("parent", stacks_.parents(), [](StackTree::Node node) { return node; });
    columns.Add("frame", stacks_.frames(), [](uint32_t name) { return name; });
    columns.Add("user", stacks_.names(), [](const StackTree::Name& name) { return name.is_user; });
    json names = json::array();
    for (const StackTree::Name& name : stacks_.names()) names.push_back(name.text);
    const std::string object = columns.Object();
    return "{\"names\":" + names.dump() + "," + object.substr(1);
  }

  const analysis::Explanation& explanation_;
  const analysis::Explanation* after_;
  const analysis::RunDetail& detail_;
  const analysis::EventSource& source_;
  StackTree stacks_;
  Texts texts_;
  std::vector<OriginId> origins_;
  absl::flat_hash_map<OriginId, uint32_t> number_of_;
};

}  // namespace

std::string PageData(const std::string& file, const analysis::Explanation& explanation,
                     const analysis::RunDetail& detail, const analysis::EventSource& source,
                     const analysis::Explanation* after) {
  return DataWriter(explanation, after, detail, source).Run(file);
}

std::string Packed(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string deflated(size, '\0');
  const int result =
      compress2(reinterpret_cast<Bytef*>(deflated.data()), &size,
                reinterpret_cast<const Bytef*>(data.data()), data.size(), Z_DEFAULT_COMPRESSION);
  MEMTRACE_CHECK(result == Z_OK);
  deflated.resize(size);
  return absl::Base64Escape(deflated);
}

}  // namespace memtrace::report
