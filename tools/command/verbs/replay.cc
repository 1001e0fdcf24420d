// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replay/replay.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/status_macros.h"
#include "interpose/simulated_card/spec/card_spec.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/command/outputs/replayed_remedies.h"
#include "tools/command/verbs/trace_verb.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/replay_report.h"

namespace memtrace::command {
namespace {

constexpr const char* kReplayDescription =
    "Replay a program's requests on another allocator, or on another card\n"
    "It says what the allocator would reserve, whether all requests fit, and the smallest\n"
    "card that serves them all. For the recorded allocator, it also says how many blocks go\n"
    "where they were recorded.\n"
    "\n"
    "Usage: memtrace replay [OPTIONS] FILE";
constexpr const char* kReplayExamples =
    "Examples:\n"
    "  memtrace replay --policy memtrace run.trace                    memtrace's allocator\n"
    "  memtrace replay --policy torch-native --card 24GiB run.trace   torch's, on another card\n"
    "  memtrace replay --policy lower-bound --json run.trace          the least that any needs";

struct ReplayOptions {
  TraceOptions trace;
  std::string policy;
  std::string card;
  std::string placements;
};

// Returns the bytes of one card. Memory of it outside the allocator is taken from the trace.
absl::StatusOr<std::optional<Bytes>> CardOf(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::vector<card::CardSpec> cards;
  std::string error;
  const bool is_size = text.find_first_of(",;") == std::string::npos;
  if (is_size && !card::ParseCardSpecs(text + ",context=0MiB", &cards, &error)) {
    return absl::InvalidArgumentError(error);
  }
  if (cards.size() != 1) {
    return absl::InvalidArgumentError("--card " + text +
                                      " must be one size or one profile, such as --card 24GiB; "
                                      "each card of the trace is replayed on one such card");
  }
  return cards.front().bytes;
}

// Writes lines of five numbers: event, card, segment, offset in it, size.
class PlacementFile {
 public:
  absl::Status Open(const std::string& path) {
    if (path.empty()) return absl::OkStatus();
    path_ = path;
    file_.reset(std::fopen(path.c_str(), "w"));
    return file_ == nullptr ? absl::InvalidArgumentError(Failure()) : absl::OkStatus();
  }
  replay::PlacementSink sink() {
    if (file_ == nullptr) return {};
    return [this](uint64_t sequence, int32_t device, const replay::Placed& placed) {
      std::fprintf(file_.get(), "%" PRIu64 " %" PRId32 " %" PRIu32 " %" PRIu64 " %" PRIu64 "\n",
                   sequence, device, placed.segment, placed.offset, placed.size);
    };
  }
  absl::Status Close() {
    if (file_ == nullptr) return absl::OkStatus();
    const bool is_whole = std::ferror(file_.get()) == 0 && std::fflush(file_.get()) == 0;
    return is_whole ? absl::OkStatus() : absl::UnavailableError(Failure());
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string Failure() const {
    return "cannot write " + path_ + " (" + std::strerror(errno) +
           "); choose another file with --placements";
  }

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

absl::StatusOr<std::string> Render(const TraceInput& input, const ReplayOptions& options) {
  MEMTRACE_ASSIGN_OR_RETURN(const auto card, CardOf(options.card));
  const replay::RecordedRun run = RecordedRunOf(input);
  if (run.devices.empty()) {
    return absl::InvalidArgumentError(
        options.trace.file + ": the trace has no allocation, so there is nothing to replay");
  }
  PlacementFile placements;
  MEMTRACE_RETURN_IF_ERROR(placements.Open(options.placements));
  const auto result =
      replay::Replay(input, run, {*replay::PolicyOf(options.policy), card, placements.sink()});
  MEMTRACE_RETURN_IF_ERROR(placements.Close());
  const analysis::RunFacts facts = input.Facts({});
  return options.trace.json ? report::JsonReplay(result, facts) : report::TextReplay(result, facts);
}

}  // namespace

void DefineReplay(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<ReplayOptions>();
  app.description(kReplayDescription);
  app.footer(kReplayExamples);
  AddTraceOptions(app, options->trace, "memtrace.replay/1");
  app.add_option("--policy", options->policy,
                 "Allocator: torch-native, torch-expandable, memtrace or lower-bound")
      ->required()
      ->type_name("NAME")
      ->check(CLI::IsMember({"torch-native", "torch-expandable", "memtrace", "lower-bound"}))
      ->group("Input");
  app.add_option("--card", options->card,
                 "Size or profile of each card (default: the recorded card)")
      ->type_name("SIZE")
      ->group("Input");
  app.add_option("--placements", options->placements,
                 "Write where each allocation was placed: event, card, segment, offset, size")
      ->type_name("FILE")
      ->group("Output");
  app.callback([options, &exit_code] {
    exit_code = PrintFromTrace(options->trace,
                               [&](const TraceInput& input) { return Render(input, *options); });
  });
}

}  // namespace memtrace::command
