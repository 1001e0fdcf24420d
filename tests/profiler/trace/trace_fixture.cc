// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/trace/trace_fixture.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <type_traits>
#include <utility>

#include "profiler/trace/coding/event_fields.h"

namespace memtrace::trace {
namespace {

// Visits the fields like the encoder, and prints them.
class FieldPrinter {
 public:
  template <typename T>
  void Number(T value) {
    out_ << ' ' << std::hex << static_cast<uint64_t>(value);
  }
  void Appended(uint64_t value) { Number(value); }
  void Device(int32_t device) { out_ << ' ' << std::dec << device; }
  void Place(int32_t device, uint64_t address) {
    Device(device);
    Number(address);
  }
  uint64_t Flags(std::initializer_list<bool> /*differs*/) { return ~uint64_t{0}; }
  template <typename T>
  void Unless(uint64_t /*mask*/, unsigned /*bit*/, T value, T /*expected*/) {
    Number(value);
  }
  void Near(uint64_t value, uint64_t /*other*/) { Number(value); }
  void NearUnless(uint64_t /*mask*/, unsigned /*bit*/, uint64_t value, uint64_t /*expected*/) {
    Number(value);
  }
  template <typename T>
  void List(const std::vector<T>& items, size_t /*most*/) {
    for (const T& item : items) CodeFields(*this, item);
  }
  DeltaState& delta() { return delta_; }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
  DeltaState delta_;
};

// Visits the fields like the decoder, and assigns random values.
class FieldInventor {
 public:
  explicit FieldInventor(std::mt19937_64& random) : random_(random) {}

  // Short and long numbers are equally likely.
  template <typename T>
  void Number(T& field) {
    field = static_cast<T>(random_() >> (random_() % 64));
  }
  void Appended(uint64_t& field) { Number(field); }
  void Number(Role& role) { role = static_cast<Role>(random_() % 10); }
  void Number(Phase& phase) { phase = static_cast<Phase>(random_() % 8); }
  void Number(OutsideKind& kind) { kind = static_cast<OutsideKind>(random_() % 6); }
  void Number(MoveKind& kind) { kind = static_cast<MoveKind>(random_() % kMoveKindCount); }
  void Number(ActivityKind& kind) { kind = static_cast<ActivityKind>(random_() % 5); }
  void Device(int32_t& device) { device = static_cast<int32_t>(random_() >> (random_() % 64)); }
  void Place(int32_t& device, uint64_t& address) {
    Device(device);
    Number(address);
    if (random_() % 2 == 0) address &= ~uint64_t{511};
  }
  uint64_t Flags(std::initializer_list<bool> /*differs*/) { return random_(); }
  template <typename T>
  void Unless(uint64_t mask, unsigned bit, T& field, T expected) {
    field = expected;
    if ((mask >> bit & 1) != 0) Number(field);
  }
  void Near(uint64_t& field, uint64_t /*other*/) { Number(field); }
  void NearUnless(uint64_t mask, unsigned bit, uint64_t& field, uint64_t expected) {
    Unless(mask, bit, field, expected);
  }
  template <typename T>
  void List(std::vector<T>& items, size_t /*most*/) {
    items.resize(random_() % 9);
    for (T& item : items) CodeFields(*this, item);
  }
  DeltaState& delta() { return delta_; }

 private:
  std::mt19937_64& random_;
  DeltaState delta_;
};

template <size_t kPlace = 0>
Payload Invent(size_t place, FieldInventor& inventor) {
  if constexpr (kPlace < std::variant_size_v<Payload>) {
    if (place != kPlace) return Invent<kPlace + 1>(place, inventor);
    Payload payload(std::in_place_index<kPlace>);
    CodeFields(inventor, std::get<kPlace>(payload));
    return payload;
  }
  return {};
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "memtrace-test-XXXXXX").string();
  path_ = mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Describe(const Event& event) {
  FieldPrinter printer;
  std::visit([&](const auto& payload) { CodeFields(printer, payload); }, event.payload);
  return "#" + std::to_string(event.sequence) + " @" + std::to_string(event.time_ns) + " kind " +
         std::to_string(event.payload.index()) + printer.text();
}

std::vector<std::string> Describe(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  lines.reserve(events.size());
  for (const Event& event : events) lines.push_back(Describe(event));
  return lines;
}

std::vector<Event> OneOfEachKind() {
  std::mt19937_64 random(7);
  FieldInventor inventor(random);
  std::vector<Event> events;
  events.reserve(std::variant_size_v<Payload>);
  for (size_t place = 0; place < std::variant_size_v<Payload>; ++place) {
    events.push_back(
        {.sequence = place + 1, .time_ns = 1000 * (place + 1), .payload = Invent(place, inventor)});
  }
  return events;
}

std::vector<Event> RandomEvents(size_t count, std::mt19937_64& random) {
  FieldInventor inventor(random);
  std::vector<Event> events(count);
  uint64_t sequence = 0;
  uint64_t time_ns = 0;
  for (Event& event : events) {
    event.sequence = sequence += 1 + random() % 3;
    event.time_ns = time_ns += random() >> (24 + random() % 40);
    event.payload = Invent(random() % std::variant_size_v<Payload>, inventor);
  }
  return events;
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TraceReader MustOpen(const std::string& path) {
  absl::StatusOr<TraceReader> reader = TraceReader::Open(path);
  if (!reader.ok()) {
    ADD_FAILURE() << reader.status();
    std::abort();
  }
  return *std::move(reader);
}

std::vector<Event> EventsOf(const TraceReader& reader) {
  std::vector<Event> events;
  reader.ForEach([&](const Event& event) { events.push_back(event); });
  return events;
}

void TraceFixture::Begin(const TraceFileOptions& options,
                         const std::map<std::string, std::string>& info) {
  auto writer = TraceWriter::Open(path_, info, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  writer_ = *std::move(writer);
}

void TraceFixture::Write(const std::vector<Event>& events) {
  for (const Event& event : events) {
    const absl::Status written = writer_->Write(event);
    ASSERT_TRUE(written.ok()) << written;
    sequence_ = event.sequence;
  }
}

void TraceFixture::WriteAllocations(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    ++sequence_;
    Write({{.sequence = sequence_,
            .time_ns = 700 * sequence_,
            .payload = Allocate{.address = 0x7f00'0000'0000 + 512 * sequence_,
                                .requested = 500,
                                .allocated = 512,
                                .stack = static_cast<StackId>(sequence_ % 5)}}});
  }
}

}  // namespace memtrace::trace
