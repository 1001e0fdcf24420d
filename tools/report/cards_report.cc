// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/cards_report.h"

#include <string_view>

#include "interpose/simulated_card/interface/card_link.h"
#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using nlohmann::ordered_json;

std::string_view SourceName(card::FigureSource source) {
  switch (source) {
    case card::FigureSource::kMeasured:
      return "measured";
    case card::FigureSource::kDatasheet:
      return "datasheet";
    case card::FigureSource::kAssumed:
      return "assumed";
  }
  return "";
}

std::string ComputeCapability(const card::CardProfile& profile) {
  return std::to_string(profile.compute_capability_major) + "." +
         std::to_string(profile.compute_capability_minor);
}

std::string_view LinkName(card::CardLink link) {
  switch (link) {
    case card::CardLink::kNvlink:
      return "nvlink";
    case card::CardLink::kPcie:
      return "pcie";
    case card::CardLink::kHost:
      return "host";
  }
  return "";
}

// Returns the titles of the columns that Row() fills.
std::string CardsHead() {
  const std::string mark = "  ";  // the column of the figure's source
  return LeftAligned(Message("CARD"), 16) + RightAligned("GiB", 8) + mark +
         RightAligned(Message("context MiB"), 13) + mark + RightAligned("cc", 6) + mark +
         RightAligned("SMs", 6) + mark + RightAligned(Message("link"), 8) + mark + "  " +
         Message("name of the device") + "\n";
}

// Returns a figure and the first letter of its source: "23.69 m".
std::string Cell(const std::string& figure, const card::FigureOrigin& origin, size_t width) {
  return RightAligned(figure, width) + " " + std::string(SourceName(origin.source).substr(0, 1));
}

std::string Row(const card::CardProfile& profile) {
  const std::string gib = FormatFigure(profile.bytes, {"GiB", 1ull << 30});
  return LeftAligned(profile.name, 16) + Cell(gib, profile.bytes_origin, 8) +
         Cell(std::to_string(profile.context_bytes >> 20), profile.context_origin, 13) +
         Cell(ComputeCapability(profile), profile.compute_capability_origin, 6) +
         Cell(std::to_string(profile.multiprocessors), profile.multiprocessors_origin, 6) +
         Cell(std::string(LinkName(profile.link)), profile.link_origin, 8) + "  " +
         std::string(profile.device_name) + "\n";
}

template <typename Value>
ordered_json Figure(const Value& value, const card::FigureOrigin& origin) {
  return {{"value", value}, {"source", SourceName(origin.source)}, {"from", origin.from}};
}

// Returns operations and bytes a second, as programs reach them.
ordered_json SpeedsJson(const struct memtrace_card_times& times) {
  constexpr double kSecond = 1e6;  // microseconds
  return {{"memory", times.memory * kSecond},   {"bfloat16", times.bfloat16 * kSecond},
          {"float16", times.float16 * kSecond}, {"tf32", times.tf32 * kSecond},
          {"float32", times.float32 * kSecond}, {"bus", times.pinned * kSecond},
          {"link", times.link * kSecond}};
}

ordered_json CardJson(const card::CardProfile& profile) {
  return {
      {"name", profile.name},
      {"device_name", profile.device_name},
      {"bytes", Figure(profile.bytes, profile.bytes_origin)},
      {"context_bytes", Figure(profile.context_bytes, profile.context_origin)},
      {"compute_capability", Figure(ComputeCapability(profile), profile.compute_capability_origin)},
      {"multiprocessors", Figure(profile.multiprocessors, profile.multiprocessors_origin)},
      {"link", Figure(LinkName(profile.link), profile.link_origin)},
      {"nccl_channels", Figure(profile.nccl_channels, profile.nccl_channels_origin)},
      {"speeds", Figure(SpeedsJson(profile.times), profile.times_origin)}};
}

}  // namespace

std::string TextCards(std::span<const card::CardProfile> profiles) {
  std::string text = CardsHead();
  for (const card::CardProfile& profile : profiles) text += Row(profile);
  return text + "\n" +
         Message(
             "m: measured on a card · d: from the maker's data sheet · a: assumed, not checked") +
         "\n" + Message("The source of each figure: memtrace cards --json") + "\n";
}

std::string JsonCards(std::span<const card::CardProfile> profiles) {
  ordered_json cards = ordered_json::array();
  for (const card::CardProfile& profile : profiles) cards.push_back(CardJson(profile));
  return JsonText({{"schema", "memtrace.cards/1"}, {"cards", cards}});
}

}  // namespace memtrace::report
