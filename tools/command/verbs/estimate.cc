// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/environment.h"
#include "tools/command/inputs/number_check.h"
#include "tools/command/outputs/fit_search.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/verbs/verbs.h"
#include "tools/fit/answer/question.h"
#include "tools/launch/package_program.h"
#include "tools/remedies/catalogue.h"

namespace memtrace::command {
namespace {

constexpr const char* kEstimateDescription =
    "Estimate the memory to train a model, from its config alone\n"
    "The model is built from its config (transformers or diffusers) on a simulated card,\n"
    "without weights, and is trained there for a few steps. No weights are read and nothing\n"
    "is downloaded.\n"
    "\n"
    "Usage: memtrace estimate [OPTIONS] CONFIG_DIR";
constexpr const char* kEstimateExamples =
    "Examples:\n"
    "  memtrace estimate models/mistral --dtype bf16 --seq 2048           memory needed\n"
    "  memtrace estimate models/mistral --batch 4 --card 24GiB            whether it fits\n"
    "  memtrace estimate models/mistral --card 24GiB --recommend          and what makes it fit\n"
    "\n"
    "Exit codes: 0 it fits, or no card is given, 1 it does not fit, 3 no model can be built.";

struct EstimateOptions {
  std::string folder;
  std::string dtype;
  uint64_t batch = 1;
  uint64_t sequence = 0;  // 0: the program's own default
  std::vector<std::string> shapes;
  std::string optimizer;
  uint64_t lora = 0;  // rank; 0: none
  bool checkpointing = false;
  bool frozen_copy = false;
  bool recommend = false;
  fit::Question question;
  FitOutput output;
};

// Returns the values N, N/2, ... of an option that may be made smaller, down to `least`.
fit::Variation Halves(std::string name, uint64_t value, uint64_t least) {
  fit::Variation variation{.name = std::move(name), .values = {}};
  for (; value >= least && value > 0; value /= 2) variation.values.push_back(std::to_string(value));
  return variation;
}

// Adds an option with its value, or with a placeholder if smaller values may be tried.
void AddVarying(const std::string& name, uint64_t value, uint64_t least, EstimateOptions& options) {
  std::vector<std::string>& command = options.question.trial.command;
  command.push_back("--" + name);
  fit::Variation variation = Halves(name, value, least);
  const bool varies = options.recommend && variation.values.size() > 1;
  command.push_back(varies ? "{" + name + "}" : std::to_string(value));
  if (varies) options.question.variations.push_back(std::move(variation));
}

int Estimate(EstimateOptions& options) {
  constexpr uint64_t kLeastSequence = 128;
  fit::Question& question = options.question;
  std::vector<std::string>& command = question.trial.command;
  command = {launch::PythonInterpreter(), "-m", "memtrace.estimate_program", options.folder};
  const auto add = [&command](const char* option, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {option, value});
  };
  add("--dtype", options.dtype);
  add("--optimizer", options.optimizer);
  add("--lora", options.lora == 0 ? "" : std::to_string(options.lora));
  for (const std::string& shape : options.shapes) add("--shape", shape);
  if (options.checkpointing) command.emplace_back("--checkpointing");
  if (options.frozen_copy) command.emplace_back("--frozen-copy");
  AddVarying("batch", options.batch, 1, options);
  if (options.sequence > 0) AddVarying("seq", options.sequence, kLeastSequence, options);
  question.asks_card = !question.trial.cards.empty();
  if (!question.asks_card) question.trial.cards = {fit::kAnyCard};
  question.with_remedies = options.recommend;
  question.runs_at_once = fit::UsualRunsAtOnce();
  question.user_settings = env::Text(env::kTorchCudaAllocConf);
  options.output.is_own_program = true;
  return RunFitSearch(question, options.output);
}

void DefineModel(CLI::App& app, EstimateOptions& options) {
  app.add_option("CONFIG_DIR", options.folder,
                 "Folder with a config.json of transformers or diffusers, or a diffusers pipeline")
      ->required()
      ->check(CLI::ExistingDirectory)
      ->group("Input");
  app.add_option("--dtype", options.dtype,
                 "Type of the parameters (default: the config's, else fp32)")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}))
      ->group("Training");
  app.add_option("--batch", options.batch, "Samples in a step (default: 1)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Training");
  app.add_option("--seq", options.sequence,
                 "Tokens in a sample (default: 512, or what the model allows)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Training");
  app.add_option("--shape", options.shapes,
                 "Whole shape of an input, including the batch; can be repeated")
      ->type_name("NAME=AxBxC")
      ->allow_extra_args(false)
      ->group("Training");
  app.add_option("--optimizer", options.optimizer,
                 "Optimizer (default: adamw); none: only the forward pass runs")
      ->check(
          CLI::IsMember({"adamw", "adamw-fused", "adamw-8bit", "adam", "sgd", "adafactor", "none"}))
      ->group("Training");
  app.add_option("--lora", options.lora, "Train only LoRA adapters of this rank")
      ->type_name("RANK")
      ->check(CountFromOne())
      ->group("Training");
  app.add_flag("--checkpointing", options.checkpointing,
               "Train with " + std::string(remedies::RowOf(remedies::Id::kCheckpointing).name))
      ->group("Training");
  app.add_flag(
         "--frozen-copy", options.frozen_copy,
         "Add a frozen copy of the model that runs forward in each step, as a reference or teacher")
      ->group("Training");
}

}  // namespace

void DefineEstimate(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto options = std::make_shared<EstimateOptions>();
  app.description(kEstimateDescription);
  app.footer(kEstimateExamples);
  DefineModel(app, *options);
  app.add_option(
         "--card", options->question.trial.cards,
         "Card to test, written as for memtrace run (default: only print the memory needed)")
      ->type_name("CARD")
      ->allow_extra_args(false)
      ->group("Card");
  app.add_flag("--recommend", options->recommend,
               "Try changes that make it fit, each in a run of its own")
      ->group("Card");
  app.add_option("--time", options->question.trial.seconds,
                 "Time limit of each run, in seconds (default: 600)")
      ->type_name("N")
      ->check(CountFromOne())
      ->group("Card");
  app.add_flag("--json", options->output.json, "Print JSON (schema memtrace.fit/1) instead of text")
      ->group("Output");
  app.add_flag("-q,--quiet", options->output.quiet, "Do not print which run is in progress")
      ->group("Output");
  app.callback([options, &exit_code] { exit_code = Estimate(*options); });
}

}  // namespace memtrace::command
