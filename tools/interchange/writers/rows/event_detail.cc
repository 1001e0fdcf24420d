// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/rows/event_detail.h"

#include <algorithm>
#include <string>
#include <variant>

#include "profiler/trace/events/card_fields.h"

namespace memtrace::interchange {
namespace {

using Json = nlohmann::ordered_json;

class Detail {
 public:
  explicit Detail(const analysis::EventSource& source) : source_(source) {}

  Json operator()(const trace::PhaseChange& change) const {
    if (change.micro_batch == 0) return {};
    return {{"micro_batch", change.micro_batch}};
  }
  Json operator()(const trace::TagChange& change) const { return {{"thread", change.thread}}; }
  Json operator()(const trace::Annotate& annotate) const {
    return {{"key", source_.String(annotate.key)}, {"value", source_.String(annotate.value)}};
  }
  Json operator()(const trace::OutOfMemory& failed) const {
    Json cards = Json::array();
    for (const trace::CardLedger& card : failed.cards) cards.push_back(LedgerJson(card));
    Json json = {{"obtainable", failed.obtainable}};
    if (failed.limit != ~uint64_t{0}) json["limit"] = failed.limit;
    json["cards"] = std::move(cards);
    return json;
  }
  Json operator()(const trace::CardSample& sample) const { return LedgerJson(sample.card); }
  Json operator()(const trace::Lost& lost) const {
    return {{"events", lost.events}, {"reason", source_.String(lost.reason)}};
  }
  Json operator()(const trace::OutsideAllocate& outside) const {
    return {{"kind", trace::OutsideKindName(outside.kind)}};
  }
  Json operator()(const trace::OutsideFree& outside) const {
    return {{"kind", trace::OutsideKindName(outside.kind)}};
  }
  Json operator()(const trace::Alive& alive) const {
    return {{"birth", alive.birth}, {"waiting", alive.waiting != 0}};
  }
  Json operator()(const trace::Activity& activity) const {
    return {{"kind", trace::ActivityKindName(activity.kind)},
            {"start_ns", activity.start_ns},
            {"duration_ns", activity.duration_ns},
            {"name", source_.String(activity.name)},
            {"block", activity.block}};
  }
  Json operator()(const trace::Moved& moved) const {
    return {{"kind", trace::MoveKindName(moved.kind)},
            {"host_bytes", moved.host_bytes},
            {"duration_ns", moved.duration_ns},
            {"to", source_.String(moved.to)}};
  }
  // Returns nothing for kinds whose row says all.
  template <
      trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted, trace::Reserve,
                   trace::Map, trace::Unmap, trace::Relabel, trace::Step, trace::Resume>
          Ignored>
  Json operator()(const Ignored&) const {
    return {};
  }

 private:
  const analysis::EventSource& source_;
};

}  // namespace

std::string DetailOf(const trace::Event& event, const analysis::EventSource& source) {
  const Json json = std::visit(Detail(source), event.payload);
  return json.is_null() ? std::string() : CompactJson(json);
}

Json LedgerJson(const trace::CardLedger& ledger) {
  Json json = {{"device", ledger.device}};
  for (const trace::CardField& field : trace::kCardFields)
    json[std::string(field.name)] = ledger.*field.value;
  return json;
}

std::string CompactJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ValidUtf8(std::string_view text) {
  const bool is_ascii = std::all_of(text.begin(), text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return is_ascii ? std::string(text) : Json::parse(CompactJson(text)).get<std::string>();
}

}  // namespace memtrace::interchange
