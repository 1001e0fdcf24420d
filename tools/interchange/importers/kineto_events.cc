// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/importers/kineto_events.h"

#include <cmath>
#include <limits>

#include "simdjson.h"
#include "tools/interchange/importers/json_elements.h"

namespace memtrace::interchange {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kLargestEvent = 1 << 20;  // bytes of JSON; real ones have some hundred

absl::Status Wrong(std::string_view what, size_t at) {
  return absl::InvalidArgumentError(std::string(what) + " at byte " + std::to_string(at));
}

// Parses one event at a time in the same memory, by simdjson's tree. Its on-demand reader (3.0.1)
// must not be asked again after an error, and reads outside its memory if it is.
class EventParser {
 public:
  // Returns false if the text is not JSON.
  bool Parse(std::string_view text, KinetoFacts& facts,
             const std::function<void(const KinetoEvent&)>& visit) {
    const bool memory = text.find("\"[memory]\"") != std::string_view::npos;
    const bool slice = text.find("\"python_function\"") != std::string_view::npos ||
                       text.find("\"cpu_op\"") != std::string_view::npos ||
                       text.find("ProfilerStep#") != std::string_view::npos;
    if (!memory && !slice) return true;  // a kernel, a flow, a name: nothing of it is used
    room_.assign(text);
    room_.resize(text.size() + simdjson::SIMDJSON_PADDING, ' ');
    dom::object event;
    if (parser_.parse(room_.data(), text.size(), false).get(event)) return false;
    return memory ? Memory(event, facts, visit) : Slice(event, visit);
  }

 private:
  // Threads are numbers. Some tools write texts, which all count as one thread.
  static uint64_t Thread(const dom::object& event) {
    int64_t thread = 0;
    return event["tid"].get(thread) ? 0 : static_cast<uint64_t>(thread);
  }

  // Reads microseconds with a fraction. Returns false if it is out of range or no number.
  static bool Nanoseconds(const dom::object& event, const char* key, uint64_t& time) {
    double us = 0;
    if (event[key].get(us)) return false;
    if (!std::isfinite(us) || us < 0 || us > 9e15) return false;
    time = static_cast<uint64_t>(us * 1000);
    return true;
  }

  static uint64_t Amount(const dom::object& arguments, const char* key) {
    uint64_t amount = 0;
    return arguments[key].get(amount) ? 0 : amount;
  }

  bool Memory(const dom::object& event, KinetoFacts& facts,
              const std::function<void(const KinetoEvent&)>& visit) const {
    KinetoMemory memory;
    memory.thread = Thread(event);
    dom::object arguments;
    if (!Nanoseconds(event, "ts", memory.time_ns)) return false;
    if (event["args"].get(arguments)) return false;
    int64_t type = 0;
    int64_t device = 0;
    if (arguments["Device Type"].get(type)) return false;
    if (arguments["Device Id"].get(device)) return false;
    constexpr int64_t kCuda = 1;
    if (type != kCuda || device < 0 || device > 1023) {
      ++facts.other_devices;
      return true;
    }
    memory.device = static_cast<int32_t>(device);
    memory.address = Amount(arguments, "Addr");
    memory.reserved = Amount(arguments, "Total Reserved");
    memory.allocated = Amount(arguments, "Total Allocated");
    if (arguments["Bytes"].get(memory.bytes)) return false;
    if (memory.bytes == std::numeric_limits<int64_t>::min()) return false;
    visit(memory);
    return true;
  }

  bool Slice(const dom::object& event, const std::function<void(const KinetoEvent&)>& visit) const {
    KinetoSlice slice;
    std::string_view kind;
    std::string_view category;
    if (event["ph"].get(kind) || kind != "X") return true;
    if (event["cat"].get(category)) return true;
    if (event["name"].get(slice.name)) return false;
    const bool step = category == "user_annotation" && slice.name.starts_with("ProfilerStep#");
    if (category != "python_function" && category != "cpu_op" && !step) return true;
    slice.kind = step                   ? KinetoSlice::Kind::kStep
                 : category == "cpu_op" ? KinetoSlice::Kind::kOperator
                                        : KinetoSlice::Kind::kPython;
    slice.thread = Thread(event);
    uint64_t duration = 0;
    if (!Nanoseconds(event, "ts", slice.begin_ns)) return false;
    if (!Nanoseconds(event, "dur", duration)) return false;
    slice.end_ns = slice.begin_ns + duration;
    visit(slice);
    return true;
  }

  dom::parser parser_;
  std::string room_;
};

absl::Status ForEachElement(JsonElements& json, KinetoFacts& facts,
                            const std::function<void(const KinetoEvent&)>& visit) {
  if (!json.Take('[')) return Wrong("there is no list of events", json.at());
  if (json.Take(']')) return absl::OkStatus();
  EventParser parser;
  while (true) {
    json.Peek();
    const size_t begin = json.at();
    const auto event = json.Value();
    if (!event) return Wrong("the file ends within the event that begins", begin);
    if (event->size() > kLargestEvent) return Wrong("there is an event of more than 1 MiB", begin);
    if (!parser.Parse(*event, facts, visit))
      return Wrong("there is no event of torch.profiler's form", begin);
    if (json.Take(']')) return absl::OkStatus();
    if (!json.Take(',')) return Wrong("there is no ',' or ']' after an event", json.at());
  }
}

uint64_t NumberIn(std::string_view text) {
  uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || number > std::numeric_limits<uint64_t>::max() / 10 - 1) return 0;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

// Returns the number behind "rank" in {"backend": "nccl", "rank": 3, ...}.
std::string RankIn(std::string_view text) {
  constexpr std::string_view kRank = "\"rank\"";
  const size_t key = text.find(kRank);
  if (key == std::string_view::npos) return "";
  JsonElements json(text, key + kRank.size());
  if (!json.Take(':')) return "";
  const auto value = json.Value();
  return value && NumberIn(*value) < 1'000'000 ? std::to_string(NumberIn(*value)) : "";
}

}  // namespace

absl::Status ForEachKinetoEvent(std::string_view bytes, KinetoFacts& facts,
                                const std::function<void(const KinetoEvent&)>& visit) {
  JsonElements json(bytes);
  if (json.Peek() == '[') return ForEachElement(json, facts, visit);
  if (!json.Take('{')) return Wrong("there is no JSON object", json.at());
  while (true) {
    const auto key = json.Value();
    if (!key || !json.Take(':'))
      return Wrong("there is no \"traceEvents\" in the object that ends", json.at());
    if (*key == "\"traceEvents\"") return ForEachElement(json, facts, visit);
    const auto value = json.Value();
    if (!value) return Wrong("no value", json.at());
    if (*key == "\"distributedInfo\"") facts.rank = RankIn(*value);
    if (*key == "\"baseTimeNanoseconds\"") facts.base_ns = NumberIn(*value);
    if (!json.Take(','))
      return Wrong("there is no \"traceEvents\" in the object that ends", json.at());
  }
}

}  // namespace memtrace::interchange
