// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "base/units.h"
#include "profiler/trace/events/card_fields.h"
#include "profiler/trace/text/text_line.h"
#include "profiler/trace/text/text_trace.h"

namespace memtrace::trace {
namespace {

// Formats each event as a line (out_of_memory: with one more for each card).
class LineFormatter {
 public:
  explicit LineFormatter(const TraceReader& reader) : reader_(reader) {}

  void Format(const Event& event) {
    text_ += "@" + std::to_string(event.time_ns) + " ";
    std::visit([this](const auto& payload) { Line(payload); }, event.payload);
    text_ += '\n';
  }
  std::string TakeText() { return std::move(text_); }

 private:
  void Line(const Allocate& event) {
    Place("alloc", event);
    Block(event);
  }
  void Line(const FreeRequested& event) { Place("free_requested", event); }
  void Line(const FreeCompleted& event) { Place("free_completed", event); }
  void Line(const Reserve& event) { Range("reserve", event); }
  void Line(const Map& event) { Range("map", event); }
  void Line(const Unmap& event) { Range("unmap", event); }
  void Line(const Relabel& event) {
    Range("relabel", event);
    text_ += " role=" + std::string(RoleName(event.role));
    String("owner", event.owner);
    String("path", event.path);
  }
  void Line(const Step& event) { text_ += "step " + std::to_string(event.number); }
  void Line(const PhaseChange& event) {
    text_ += "phase " + std::string(PhaseName(event.phase));
    Amount("micro_batch", event.micro_batch);
  }
  void Line(const TagChange& event) {
    text_ += "tag " + std::to_string(event.thread);
    String("owner", event.owner);
  }
  void Line(const Annotate& event) {
    text_ += "annotate " + QuoteText(reader_.String(event.key)) + " " +
             QuoteText(reader_.String(event.value));
  }
  void Line(const OutOfMemory& event) {
    text_ += "out_of_memory " + std::to_string(event.device);
    Amount("requested", event.requested);
    Amount("allocated", event.allocated);
    Amount("obtainable", event.obtainable);
    if (event.limit != ~uint64_t{0}) text_ += " limit=" + std::to_string(event.limit);
    Amount("stream", event.stream);
    Site(event);
    for (const CardLedger& card : event.cards) Card("\n  card ", card);
  }
  void Line(const CardSample& event) { Card("sample ", event.card); }
  void Line(const Lost& event) {
    text_ += "lost " + std::to_string(event.events);
    String("reason", event.reason);
  }
  void Line(const OutsideAllocate& event) {
    Place("outside", event);
    Amount("bytes", event.bytes);
    text_ += " kind=" + std::string(OutsideKindName(event.kind));
    Site(event);
  }
  void Line(const OutsideFree& event) {
    Place("outside_free", event);
    text_ += " kind=" + std::string(OutsideKindName(event.kind));
  }
  void Line(const Activity& event) {
    text_ += "activity " + std::to_string(event.device) + " " +
             std::string(ActivityKindName(event.kind));
    Amount("start", event.start_ns);
    Amount("duration", event.duration_ns);
    Amount("stream", event.stream);
    Amount("bytes", event.bytes);
    if (event.address != 0) text_ += " address=" + DeviceAddress{event.address}.ToString();
    String("name", event.name);
    Amount("block", event.block);
  }
  void Line(const Moved& event) {
    text_ += "moved " + std::to_string(event.device) + " " + std::string(MoveKindName(event.kind));
    Amount("bytes", event.bytes);
    Amount("host_bytes", event.host_bytes);
    Amount("duration", event.duration_ns);
    String("owner", event.owner);
    String("to", event.to);
    Stack(event.stack);
  }

  void Line(const Resume& event) {
    text_ += "resume " + std::string(PhaseName(event.phase));
    Amount("step", event.step);
    Amount("forward_seen", event.forward_seen);
    Amount("micro_batch", event.micro_batch);
  }
  void Line(const Alive& event) {
    Place("alive", event.block);
    Block(event.block);
    Amount("birth", event.birth);
    Amount("step", event.step);
    text_ += " phase=" + std::string(PhaseName(event.phase));
    Amount("in_same_phase", event.in_same_phase);
    Amount("waiting", event.waiting);
    text_ += " role=" + std::string(RoleName(event.role));
    String("path", event.path);
  }

  void Block(const Allocate& block) {
    Amount("requested", block.requested);
    text_ += " allocated=" + std::to_string(block.allocated);
    Amount("stream", block.stream);
    Amount("pool", block.pool);
    Site(block);
  }
  template <typename E>
  void Place(const char* verb, const E& event) {
    text_ += verb;
    text_ += " " + std::to_string(event.device) + " " + DeviceAddress{event.address}.ToString();
  }
  template <typename E>
  void Range(const char* verb, const E& event) {
    Place(verb, event);
    Amount("size", event.size);
    if constexpr (requires { event.stream; }) Amount("stream", event.stream);
  }
  template <typename E>
  void Site(const E& event) {
    Stack(event.stack);
    String("owner", event.owner);
    String("module", event.module);
  }
  void Stack(StackId stack) {
    if (stack != 0) text_ += " stack=" + QuoteText(FormatStack(reader_.Stack(stack)));
  }
  void Card(const char* verb, const CardLedger& card) {
    text_ += verb + std::to_string(card.device);
    for (const CardField& field : kCardFields) Amount(field.name, card.*field.value);
  }
  void Amount(std::string_view key, uint64_t value) {
    if (value != 0) text_ += " " + std::string(key) + "=" + std::to_string(value);
  }
  void String(std::string_view key, StringId id) {
    if (id != 0) text_ += " " + std::string(key) + "=" + QuoteText(reader_.String(id));
  }

  const TraceReader& reader_;
  std::string text_;
};

}  // namespace

std::string TraceToText(const TraceReader& reader) {
  std::string info;
  for (const auto& [key, value] : reader.info()) {
    info.append("info ").append(key).append(" ").append(value).append("\n");
  }
  LineFormatter formatter(reader);
  reader.ForEach([&](const Event& event) { formatter.Format(event); });
  return info + formatter.TakeText();
}

}  // namespace memtrace::trace
