// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/text/text_trace.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "profiler/trace/coding/event_fields.h"
#include "profiler/trace/events/card_fields.h"
#include "profiler/trace/text/text_line.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::trace {
namespace {

constexpr uint64_t kDefaultStepNs = 1000;

template <typename Enum>
Enum ByName(TextLine& line, const std::string& name, std::string_view (*name_of)(Enum), size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  line.SetError("'" + name + "' is none of the known names");
  return {};
}

// Parses lines and passes their events to a writer.
class TextParser {
 public:
  explicit TextParser(TraceWriter& writer) : writer_(writer) {}

  void Line(TextLine& line) {
    uint64_t time_ns = time_ns_;
    const bool is_timed = line.Word(0).starts_with('@');
    if (is_timed) {
      time_ns = line.ParseAmount(line.Word(0).substr(1)) - kDefaultStepNs;
      line.DropWord();
    }
    const std::string verb = line.Word(0);
    if (verb == "card") return Card(line);
    Finish();
    if (is_timed) time_ns_ = time_ns;
    const auto found = Verbs().find(verb);
    if (found == Verbs().end()) return line.SetError("'" + verb + "' is not a kind of event");
    found->second(*this, line);
  }

  // Writes an out_of_memory that was waiting for its cards.
  void Finish() {
    if (!awaits_cards_) return;
    awaits_cards_ = false;
    Add(std::exchange(out_of_memory_, {}));
  }

 private:
  using Verb = std::function<void(TextParser&, TextLine&)>;
  static const std::map<std::string, Verb>& Verbs();

  template <typename E>
  void Add(const E& event) {
    time_ns_ += kDefaultStepNs;
    writer_.Write(++sequence_, time_ns_, event).IgnoreError();
  }

  void Card(TextLine& line) {
    if (!awaits_cards_) line.SetError("a card belongs under an out_of_memory");
    out_of_memory_.cards.push_back(Ledger(line));
  }

  static CardLedger Ledger(TextLine& line) {
    CardLedger card{.device = line.Device(1)};
    for (const CardField& field : kCardFields) card.*field.value = line.Amount(field.name);
    return card;
  }

  StringId String(TextLine& line, std::string_view key) {
    return writer_.definitions().String(line.Text(key));
  }

  StackId Stack(TextLine& line) {
    std::vector<Frame> frames = line.Stack("stack");
    DefinitionWriter& names = writer_.definitions();
    StackId stack = 0;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      stack = names.DefineStack(stack, names.DefineFrame(*frame));
    }
    return stack;
  }

  Allocate Block(TextLine& line) {
    const uint64_t requested = line.Amount("requested");
    return Allocate{.device = line.Device(1),
                    .address = line.Number(2),
                    .requested = requested,
                    .allocated = line.Amount("allocated", UsualRounding(requested)),
                    .stream = line.Amount("stream"),
                    .pool = static_cast<uint32_t>(line.Amount("pool")),
                    .stack = Stack(line),
                    .owner = String(line, "owner"),
                    .module = String(line, "module")};
  }
  void Alloc(TextLine& line) { Add(Block(line)); }

  Role RoleOf(TextLine& line) {
    const std::string role = line.Text("role");
    return role.empty() ? Role::kUnknown : ByName<Role>(line, role, RoleName, kRoleCount);
  }

  void Living(TextLine& line) {
    const std::string phase = line.Text("phase");
    Add(Alive{.block = Block(line),
              .birth = line.Amount("birth"),
              .step = line.Amount("step"),
              .phase = phase.empty() ? Phase::kOther : ByName<Phase>(line, phase, PhaseName, 8),
              .in_same_phase = static_cast<uint8_t>(line.Amount("in_same_phase")),
              .waiting = static_cast<uint8_t>(line.Amount("waiting")),
              .role = RoleOf(line),
              .path = String(line, "path")});
  }

  void Begin(TextLine& line) {
    Add(Resume{.step = line.Amount("step"),
               .phase = ByName<Phase>(line, line.Word(1), PhaseName, 8),
               .forward_seen = static_cast<uint8_t>(line.Amount("forward_seen")),
               .micro_batch = line.Amount("micro_batch")});
  }

  template <typename E>
  void Place(TextLine& line) {
    Add(E{.device = line.Device(1), .address = line.Number(2)});
  }

  void Free(TextLine& line) {
    Place<FreeRequested>(line);
    Place<FreeCompleted>(line);
  }

  template <typename E>
  void Range(TextLine& line) {
    E range{.device = line.Device(1), .address = line.Number(2), .size = line.Amount("size")};
    if constexpr (requires { range.stream; }) range.stream = line.Amount("stream");
    Add(range);
  }

  void Label(TextLine& line) {
    Add(Relabel{.device = line.Device(1),
                .address = line.Number(2),
                .size = line.Amount("size"),
                .role = RoleOf(line),
                .owner = String(line, "owner"),
                .path = String(line, "path")});
  }

  static OutsideKind Kind(TextLine& line) {
    const std::string kind = line.Text("kind");
    return kind.empty() ? OutsideKind::kDevice : ByName(line, kind, OutsideKindName, 6);
  }

  void Outside(TextLine& line) {
    Add(OutsideAllocate{.device = line.Device(1),
                        .address = line.Number(2),
                        .bytes = line.Amount("bytes"),
                        .kind = Kind(line),
                        .stack = Stack(line),
                        .owner = String(line, "owner"),
                        .module = String(line, "module")});
  }

  void FreeOutside(TextLine& line) {
    Add(OutsideFree{.device = line.Device(1), .address = line.Number(2), .kind = Kind(line)});
  }

  void Act(TextLine& line) {
    Add(Activity{.kind = ByName<ActivityKind>(line, line.Word(2), ActivityKindName, 5),
                 .device = line.Device(1),
                 .stream = line.Amount("stream"),
                 .start_ns = line.Amount("start"),
                 .duration_ns = line.Amount("duration"),
                 .bytes = line.Amount("bytes"),
                 .address = line.Amount("address"),
                 .name = String(line, "name"),
                 .block = line.Amount("block")});
  }

  void Move(TextLine& line) {
    Add(Moved{.device = line.Device(1),
              .kind = ByName<MoveKind>(line, line.Word(2), MoveKindName, kMoveKindCount),
              .bytes = line.Amount("bytes"),
              .host_bytes = line.Amount("host_bytes"),
              .duration_ns = line.Amount("duration"),
              .owner = String(line, "owner"),
              .to = String(line, "to"),
              .stack = Stack(line)});
  }

  void BeginPhase(TextLine& line) {
    Add(PhaseChange{.phase = ByName<Phase>(line, line.Word(1), PhaseName, 8),
                    .micro_batch = line.Amount("micro_batch")});
  }

  void Failure(TextLine& line) {
    out_of_memory_ = {.device = line.Device(1),
                      .stream = line.Amount("stream"),
                      .requested = line.Amount("requested"),
                      .allocated = line.Amount("allocated"),
                      .obtainable = line.Amount("obtainable"),
                      .limit = line.Amount("limit", ~uint64_t{0}),
                      .stack = Stack(line),
                      .owner = String(line, "owner"),
                      .module = String(line, "module"),
                      .cards = {}};
    awaits_cards_ = true;
  }

  TraceWriter& writer_;
  uint64_t sequence_ = 0;
  uint64_t time_ns_ = 0;
  OutOfMemory out_of_memory_;
  bool awaits_cards_ = false;
};

const std::map<std::string, TextParser::Verb>& TextParser::Verbs() {
  using Self = TextParser&;
  static const auto& verbs = *new std::map<std::string, Verb>{
      {"alloc", &TextParser::Alloc},
      {"alive", &TextParser::Living},
      {"resume", &TextParser::Begin},
      {"free_requested", &TextParser::Place<FreeRequested>},
      {"free_completed", &TextParser::Place<FreeCompleted>},
      {"free", &TextParser::Free},
      {"reserve", &TextParser::Range<Reserve>},
      {"map", &TextParser::Range<Map>},
      {"unmap", &TextParser::Range<Unmap>},
      {"relabel", &TextParser::Label},
      {"outside", &TextParser::Outside},
      {"outside_free", &TextParser::FreeOutside},
      {"activity", &TextParser::Act},
      {"moved", &TextParser::Move},
      {"step", [](Self self, TextLine& line) { self.Add(Step{.number = line.Number(1)}); }},
      {"phase", &TextParser::BeginPhase},
      {"tag",
       [](Self self, TextLine& line) {
         self.Add(TagChange{.thread = static_cast<uint32_t>(line.Number(1)),
                            .owner = self.String(line, "owner")});
       }},
      {"annotate",
       [](Self self, TextLine& line) {
         self.Add(Annotate{.key = self.writer_.definitions().String(line.Word(1)),
                           .value = self.writer_.definitions().String(line.Word(2))});
       }},
      {"sample", [](Self self, TextLine& line) { self.Add(CardSample{.card = Ledger(line)}); }},
      {"out_of_memory", &TextParser::Failure},
      {"lost",
       [](Self self, TextLine& line) {
         self.Add(Lost{.events = line.Number(1), .reason = self.String(line, "reason")});
       }},
  };
  return verbs;
}

// Parses "info KEY REST". These lines are taken first, because the file begins with them.
bool TakeInfo(std::string_view line, std::map<std::string, std::string>& info) {
  constexpr std::string_view kWord = "info ";
  if (!line.starts_with(kWord)) return false;
  line.remove_prefix(kWord.size());
  const size_t space = std::min(line.find(' '), line.size());
  const size_t value = std::min(space + 1, line.size());
  info[std::string(line.substr(0, space))] = std::string(line.substr(value));
  return true;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

absl::Status WriteTextTrace(std::string_view text, const std::string& trace_path) {
  std::vector<std::string_view> lines = SplitLines(text);
  std::map<std::string, std::string> info;
  for (std::string_view& line : lines) {
    if (TakeInfo(line, info)) line = {};
  }
  MEMTRACE_ASSIGN_OR_RETURN(auto writer,
                            TraceWriter::Open(trace_path, info, {.if_exists = IfExists::kReplace}));
  TextParser parser(*writer);
  for (size_t i = 0; i < lines.size(); ++i) {
    TextLine line(lines[i]);
    if (!line.empty()) parser.Line(line);
    if (line.error().empty()) continue;
    unlink(trace_path.c_str());
    return absl::InvalidArgumentError("line " + std::to_string(i + 1) + ": " + line.error() + ": " +
                                      std::string(lines[i]));
  }
  parser.Finish();
  return writer->loss().status();
}

}  // namespace memtrace::trace
