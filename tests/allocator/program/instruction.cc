// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/allocator/program/instruction.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memtrace::program {
namespace {

uint64_t Number(StreamId stream) { return static_cast<uint64_t>(stream); }

struct Printer {
  std::string operator()(const Allocate& i) const {
    return absl::StrCat("Allocate{", i.bytes, ", ", Number(i.stream),
                        i.owner == 0 ? "" : absl::StrCat(", ", i.owner), "}");
  }
  std::string operator()(const Free& i) const { return absl::StrCat("Free{", i.index, "}"); }
  std::string operator()(const Share& i) const {
    return absl::StrCat("Share{", i.index, ", ", Number(i.stream), "}");
  }
  std::string operator()(const Finish& i) const {
    return absl::StrCat("Finish{", Number(i.stream), "}");
  }
  std::string operator()(const EmptyCache&) const { return "EmptyCache{}"; }
  std::string operator()(const SetLimit& i) const {
    return absl::StrCat("SetLimit{", i.limit, "}");
  }
  std::string operator()(const Fail& i) const {
    return absl::StrCat("Fail{", i.nth, i.repeat == CallFailures::Repeat::kOnce ? "}" : ", on}");
  }
  std::string operator()(const StopFailing&) const { return "StopFailing{}"; }
  std::string operator()(const BeginCapture& i) const {
    return absl::StrCat("BeginCapture{", i.pool, ", ", Number(i.stream), "}");
  }
  std::string operator()(const JoinCapture& i) const {
    return absl::StrCat("JoinCapture{", Number(i.stream), ", ", Number(i.other), "}");
  }
  std::string operator()(const EndCapture& i) const { return WithPool("EndCapture", i.pool); }
  std::string operator()(const Replay& i) const { return WithPool("Replay", i.pool); }
  std::string operator()(const ReleaseGraph& i) const { return WithPool("ReleaseGraph", i.pool); }
  std::string operator()(const Checkpoint& i) const { return WithPool("Checkpoint", i.pool); }
  std::string operator()(const Restore& i) const { return WithPool("Restore", i.pool); }
  std::string operator()(const PutToSleep& i) const {
    return absl::StrCat("PutToSleep{", i.owner, i.is_kept ? ", true}" : ", false}");
  }
  std::string operator()(const Wake& i) const { return absl::StrCat("Wake{", i.owner, "}"); }
  std::string operator()(const GiveWay& i) const {
    return absl::StrCat("GiveWay{", i.bytes, i.is_shortfall ? ", true" : ", false",
                        i.continues ? ", true}" : ", false}");
  }
  std::string operator()(const ContinueGiving&) const { return "ContinueGiving{}"; }
  std::string operator()(const TakeTurns&) const { return "TakeTurns{}"; }
  std::string operator()(const MoveToHost& i) const {
    return absl::StrCat("MoveToHost{", i.first, ", ", i.count, ", ", i.wanted, "}");
  }
  std::string operator()(const EndStep&) const { return "EndStep{}"; }

 private:
  static std::string WithPool(const char* what, uint64_t pool) {
    return absl::StrCat(what, "{", pool, "}");
  }
};

}  // namespace

std::string Print(const Program& program) {
  return absl::StrJoin(program, "\n", [](std::string* out, const Instruction& instruction) {
    out->append(std::visit(Printer{}, instruction));
  });
}

Instruction MakeInstruction(const std::function<uint64_t(uint64_t)>& below) {
  const StreamId stream{1 + below(3)};
  const uint64_t dice = below(1030);
  if (dice < 300) return Allocate{1 + below(4_KiB), stream};
  if (dice < 380) return Allocate{1 + below(1_MiB), stream};
  if (dice < 460) return Allocate{1 + below(9_MiB), stream};
  if (dice < 470) return Allocate{1 + below(100_MiB), stream};
  if (dice < 870) return Free{below(1 << 20)};
  if (dice < 920) return Share{below(1 << 20), stream};
  if (dice < 970) return Finish{stream};
  if (dice < 975) return EmptyCache{};
  if (dice < 978) return SetLimit{below(2) == 0 ? ~Bytes{0} : below(64_MiB)};
  if (dice < 993) return Fail{1 + below(6), CallFailures::Repeat::kOnce};
  if (dice < 995) return Fail{1 + below(6), CallFailures::Repeat::kFromThenOn};
  if (dice < 1000) return StopFailing{};
  const uint64_t pool = 1 + below(2);
  if (dice < 1006) return BeginCapture{pool, stream};
  if (dice < 1014) return EndCapture{pool};
  if (dice < 1020) return Replay{pool};
  if (dice < 1023) return ReleaseGraph{pool};
  if (dice < 1026) return Checkpoint{pool};
  return Restore{pool};
}

// About a third begin, join or end captures, or use blocks on other streams.
Instruction MakeCaptureInstruction(const std::function<uint64_t(uint64_t)>& below) {
  const StreamId stream{1 + below(3)};
  const uint64_t pool = 1 + below(2);
  const uint64_t dice = below(100);
  if (dice < 3) return BeginCapture{pool, stream};
  if (dice < 15) return JoinCapture{stream, StreamId{1 + below(3)}};
  if (dice < 16) return EndCapture{pool};
  if (dice < 30) return Share{below(1 << 20), stream};
  return MakeInstruction(below);
}

Instruction MakeMovingInstruction(const std::function<uint64_t(uint64_t)>& below) {
  const auto owner = static_cast<uint32_t>(1 + below(2));
  const uint64_t dice = below(100);
  if (dice < 3) return PutToSleep{owner, below(2) == 0};
  if (dice < 8) return Wake{owner};
  if (dice < 10) return GiveWay{1 + below(32_MiB), below(2) == 0, below(2) == 0};
  if (dice < 11) return ContinueGiving{};
  if (dice < 13) return TakeTurns{};
  if (dice < 15) return BeginCapture{1 + below(2), StreamId{1 + below(3)}};
  if (dice < 18) return EndCapture{1 + below(2)};
  if (dice < 20) return Replay{1 + below(2)};
  if (dice < 23) return MoveToHost{below(1 << 20), 1 + below(16), 1 + below(24_MiB)};
  if (dice < 26) return EndStep{};
  Instruction instruction = MakeInstruction(below);
  auto* request = std::get_if<Allocate>(&instruction);
  if (request != nullptr && dice < 60) request->owner = owner;
  return instruction;
}

Instruction MakeSpillingInstruction(const std::function<uint64_t(uint64_t)>& below) {
  const uint64_t dice = below(100);
  if (dice < 8) return MoveToHost{below(1 << 20), 1 + below(64), 1 + below(48_MiB)};
  if (dice < 14) return EndStep{};
  if (dice < 16) return GiveWay{1 + below(32_MiB), below(2) == 0, below(2) == 0};
  if (dice < 18) return EndCapture{1 + below(2)};  // because nothing moves in a capture
  if (dice < 30) return Allocate{1 + below(20_MiB), StreamId{1 + below(3)}};
  return MakeInstruction(below);
}

}  // namespace memtrace::program
