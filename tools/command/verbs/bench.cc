// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/status_macros.h"
#include "interpose/simulated_card/spec/card_spec.h"
#include "messages/message.h"
#include "tools/bench/workloads.h"
#include "tools/command/inputs/bench_inputs.h"
#include "tools/command/outputs/bench_tables.h"
#include "tools/command/outputs/page_file.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/verbs/verbs.h"
#include "tools/launch/real_cards.h"
#include "tools/report/bench/bench_picture.h"
#include "tools/report/bench/bench_report.h"
#include "tools/report/picture/png_file.h"
#include "tools/report/picture/svg_file.h"
#include "tools/report/words/printable.h"

namespace memtrace::command {
namespace {

constexpr const char* kBenchDescription =
    "Compare allocators on the requests of recorded programs\n"
    "Each allocator serves the same requests on simulated cards, or on this machine's GPU: how\n"
    "small a card is enough, what is reserved, which calls are made, how long a pair of\n"
    "allocation and free takes.\n"
    "A file is a trace, a memory snapshot of torch, an RMM log or a CSV of MiniMalloc.\n"
    "\n"
    "Usage: memtrace bench [OPTIONS] [FILE...]";
constexpr const char* kBenchExamples =
    "Examples:\n"
    "  memtrace bench run.trace                                         torch's and memtrace's\n"
    "  memtrace bench run.trace --allocator all --allocator ./libmine.so    and your own\n"
    "  memtrace bench --workload hot-512 --threads 1,8 --allocator all  times of a pair\n"
    "  memtrace bench run.trace --allocator policy --json               in milliseconds";

struct BenchOptions {
  std::vector<std::string> files;
  std::vector<std::string> workloads;
  std::vector<std::string> allocators;
  std::string card;
  bool is_gpu = false;
  std::vector<int> threads = {1};
  int repeat = 5;
  double limit = 60;
  bool lists = false;
  bool json = false;
  PageOption picture;
};

int Refuse(const absl::Status& status) {
  Note(std::string(status.message()));
  if (status.code() == absl::StatusCode::kInvalidArgument) return kUsage;
  return status.code() == absl::StatusCode::kNotFound ? kUnreadable : kEnvironment;
}

// Returns 0 for all of a GPU. What --card leaves of a GPU is without its context.
absl::StatusOr<Bytes> CardOf(const BenchOptions& options) {
  if (options.card.empty()) return options.is_gpu ? 0 : 160_GiB;
  const std::string text = options.is_gpu ? options.card + ",context=0MiB" : options.card;
  std::vector<card::CardSpec> cards;
  std::string error;
  if (!card::ParseCardSpecs(text, &cards, &error)) return absl::InvalidArgumentError(error);
  if (cards.size() == 1) return cards.front().bytes;
  return absl::InvalidArgumentError(Message(
      "--card $0 must be one size or one profile, such as --card 24GiB", report::Printable(text)));
}

// Returns the name of the machine's first GPU, or of a simulated card in its place.
absl::StatusOr<std::string> FindGpu() {
  const launch::RealDriver driver = launch::AskDriver();
  if (driver.file.empty())
    return absl::FailedPreconditionError(
        Message("--gpu needs NVIDIA's driver (libcuda.so.1), which this machine does not have. "
                "Leave out --gpu to compare on simulated cards."));
  if (driver.cards.empty())
    return absl::FailedPreconditionError(
        Message("--gpu needs a GPU, and the driver gives none ($0). Leave out --gpu to compare on "
                "simulated cards.",
                driver.trouble.empty() ? Message("no device") : report::Printable(driver.trouble)));
  const std::string& name = driver.cards.front().name;
  return driver.is_simulated ? Message("$0 (simulated)", name) : name;
}

std::string Listing() {
  std::string text = Message("Allocators:") + "\n";
  for (const KnownAllocator& each : KnownAllocators()) {
    text += "  " + report::LeftAligned(each.name, 26) + MessageOf(each.description) + "\n";
  }
  text += "\n" + Message("Workloads:") + "\n";
  for (const bench::Workload& each : bench::Workloads()) {
    text += "  " + report::LeftAligned(each.name, 26) + MessageOf(each.description) + "\n";
  }
  return text;
}

absl::StatusOr<std::vector<BenchInput>> InputsOf(const BenchOptions& options, int& exit_code) {
  std::vector<BenchInput> inputs;
  for (const std::string& file : options.files) {
    MEMTRACE_ASSIGN_OR_RETURN(std::vector<BenchInput> read, ReadBenchFile(file, exit_code));
    std::move(read.begin(), read.end(), std::back_inserter(inputs));
  }
  for (const std::string& name : options.workloads) {
    MEMTRACE_ASSIGN_OR_RETURN(BenchInput input, BuiltInWorkload(name));
    inputs.push_back(std::move(input));
  }
  if (!inputs.empty()) return inputs;
  return absl::InvalidArgumentError(
      Message("there is nothing to compare: name a FILE, or a workload with --workload"));
}

// Prints a sentence for each allocator that could not be tried to the end. Returns the exit code:
// kUnreadable if one could not be started at all.
int NoteFaults(const report::BenchResult& result) {
  int exit_code = kDone;
  for (const bench::BenchTable& table : result.tables) {
    for (const bench::BenchRow& row : table.rows) {
      if (!row.fault) continue;
      Note(report::FaultText(row.allocator, *row.fault));
      const std::string& fault = row.fault->name;
      const bool is_unusable =
          fault == "cannot_open" || fault == "missing_function" || fault == "cannot_start";
      exit_code = is_unusable || exit_code == kUnreadable ? kUnreadable : kPartial;
    }
  }
  return exit_code;
}

absl::Status WritePicture(const PageOption& option, const report::BenchResult& result) {
  if (!option.is_asked()) return absl::OkStatus();
  const report::Drawing drawing = report::BenchPicture(result);
  if (option.is_svg()) return WritePictureFile(option.file, report::SvgFile(drawing));
  const absl::StatusOr<std::string> png = report::PngFile(drawing);
  return png.ok() ? WritePictureFile(option.file, *png) : png.status();
}

absl::Status CheckPicture(const PageOption& option) {
  if (!option.is_asked() || option.is_picture()) return option.Check();
  return absl::InvalidArgumentError(
      Message("$0 must end in .svg or .png", report::Printable(option.file)));
}

int Compare(const BenchOptions& options) {
  int exit_code = kDone;
  const auto card = CardOf(options);
  if (!card.ok()) return Refuse(card.status());
  if (const absl::Status wrong = CheckPicture(options.picture); !wrong.ok()) return Refuse(wrong);
  const auto allocators = AllocatorsOf(options.allocators.empty() ? std::vector<std::string>{"all"}
                                                                  : options.allocators);
  if (!allocators.ok()) return Refuse(allocators.status());
  const auto inputs = InputsOf(options, exit_code);
  if (!inputs.ok()) return Refuse(inputs.status());
  report::BenchResult result;
  if (options.is_gpu) {
    const absl::StatusOr<std::string> gpu = FindGpu();
    if (!gpu.ok()) return Refuse(gpu.status());
    result.settings.gpu = *gpu;
  }
  result.settings.card = *card;
  result.settings.threads = options.threads;
  result.settings.repeat = options.repeat;
  result.before = bench::MachineState::Now();
  for (const BenchInput& input : *inputs) {
    auto table = MeasureTable(input, *allocators, result.settings, options.limit);
    if (!table.ok()) return Refuse(table.status());
    result.tables.push_back(*std::move(table));
  }
  result.after = bench::MachineState::Now();
  std::cout << (options.json ? report::JsonBench(result) : report::TextBench(result)) << std::flush;
  if (const absl::Status kept = WritePicture(options.picture, result); !kept.ok())
    return RefuseResult(kept);
  const int faults = NoteFaults(result);
  return faults == kDone ? exit_code : faults;
}

void AddInputs(CLI::App& app, BenchOptions& options) {
  app.add_option("FILE", options.files, "Recorded requests")->group("Input");
  app.add_option("--workload", options.workloads, "Built-in requests (repeatable; see --list)")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group("Input");
  app.add_option("--allocator", options.allocators,
                 "Allocator to compare (repeatable; default: all; see --list), or a library with "
                 "the functions of torch's CUDAPluggableAllocator: LIBRARY[:MALLOC,FREE]")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group("Input");
  app.add_option("--card", options.card,
                 "Card on which reserved memory and failures are measured (default: 160GiB; with "
                 "--gpu, all that is free)")
      ->type_name("SIZE")
      ->group("Input");
  app.add_flag("--gpu", options.is_gpu, "Compare on this machine's first GPU, with its driver")
      ->group("Input");
  app.add_flag("--list", options.lists, "List allocators and workloads")->group("Input");
}

void AddTimes(CLI::App& app, BenchOptions& options) {
  app.add_option("--threads", options.threads,
                 "Numbers of threads that allocate at the same time (default: 1)")
      ->type_name("N,N")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 256))
      ->group("Times");
  app.add_option("--repeat", options.repeat,
                 "Number of measurements of each time (default: 5; 0: no times)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000))
      ->group("Times");
  app.add_option("--limit", options.limit, "Seconds that one play may take (default: 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 86'400.0))
      ->group("Times");
}

}  // namespace

void DefineBench(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  app.description(kBenchDescription);
  app.footer(kBenchExamples);
  AddInputs(app, *options);
  AddTimes(app, *options);
  app.add_flag("--json", options->json, "Print JSON (schema memtrace.bench/1) instead of text")
      ->group("Output");
  app.add_option("-o,--output", options->picture.file,
                 "Also draw the reserved memory over time: a picture (.svg, .png)")
      ->type_name("PICTURE")
      ->group("Output");
  app.add_flag("-f,--force", options->picture.force, "Overwrite PICTURE")->group("Output");
  app.callback([options, &exit_code] {
    if (options->lists) {
      std::cout << Listing() << std::flush;
      exit_code = kDone;
      return;
    }
    exit_code = Compare(*options);
  });
}

}  // namespace memtrace::command
