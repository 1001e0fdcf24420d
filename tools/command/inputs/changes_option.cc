// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/changes_option.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/environment.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/answer/saved_changes.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

// Its hook notes a write to memory that should have been a copy, but does not prevent it.
constexpr std::string_view kOnlySimulated[] = {"share"};

bool IsFile(const std::string& with) {
  std::error_code error;
  return fs::exists(with, error);
}

absl::StatusOr<fit::SavedChanges> Read(const std::string& with) {
  if (IsFile(with)) return fit::ReadSavedChanges(with);
  absl::StatusOr<fit::SavedChanges> parsed = fit::ParseChanges(with);
  if (parsed.ok()) return parsed;
  const bool is_meant_as_file = with.find_first_of("/.") != std::string::npos;
  return absl::InvalidArgumentError(
      is_meant_as_file
          ? Message("--with: there is no file $0; memtrace fit --save-plan writes one", with)
          : Message("--with: $0", std::string(parsed.status().message())));
}

// Returns kInvalidArgument if a change is only for simulated cards, and these are real.
absl::Status CheckCards(const fit::SavedChanges& saved, const launch::LaunchRequest& request) {
  if (!request.cards.empty()) return absl::OkStatus();
  for (const fit::SavedChange& change : saved.changes) {
    if (std::find(std::begin(kOnlySimulated), std::end(kOnlySimulated), change.name) ==
        std::end(kOnlySimulated))
      continue;
    return absl::InvalidArgumentError(
        Message("--with: '$0' can only be applied on a simulated card; change the script, or add "
                "--card",
                change.name));
  }
  return absl::OkStatus();
}

bool IsSet(const launch::Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found != environment.end() && !found->second.empty();
}

// Sets the trial's settings of torch's allocator, unless the user has set others.
void AddSettings(const fit::SavedChanges& saved, launch::Environment& environment,
                 std::vector<std::string>& sentences) {
  for (const auto& [name, value] : saved.settings) {
    const auto found = environment.find(name);
    if (found != environment.end() && found->second == value) continue;
    if (IsSet(environment, env::kTorchAllocConf.name()) ||
        IsSet(environment, env::kTorchCudaAllocConf.name())) {
      sentences.push_back(
          Message("the settings of torch's allocator stay as they are set, without $0", value));
      continue;
    }
    environment[name] = value;
    sentences.push_back(Message("set $0=$1", name, value));
  }
}

}  // namespace

void DefineChanges(CLI::App& app, ChangesOption& option) {
  CLI::Option* with =
      app.add_option("--with", option.with,
                     "Apply changes to the program: a file that memtrace fit --save-plan wrote, or "
                     "names such as checkpointing=9,fused")
          ->type_name("FILE")
          ->group("Changes to the program");
  app.add_flag("--with-what-can-be", option.what_can_be,
               "Go on if a change cannot be applied, or was found for another script or version; "
               "by default the program is stopped in its first steps")
      ->needs(with)
      ->group("Changes to the program");
}

absl::StatusOr<std::vector<std::string>> AddChanges(const ChangesOption& option, bool has_allocator,
                                                    launch::LaunchRequest& request,
                                                    launch::Environment& environment) {
  std::vector<std::string> sentences;
  if (option.with.empty()) return sentences;
  MEMTRACE_ASSIGN_OR_RETURN(const fit::SavedChanges saved, Read(option.with));
  MEMTRACE_RETURN_IF_ERROR(CheckCards(saved, request));
  if (IsFile(option.with)) {
    absl::Status wrong = fit::CheckCommand(saved, option.with, request.command);
    if (!wrong.ok() && !option.what_can_be) return wrong;
    if (!wrong.ok()) sentences.emplace_back(wrong.message());
  }
  request.with = IsFile(option.with) ? fs::absolute(option.with).string() : fit::WordsOf(saved);
  request.with_what_can_be = option.what_can_be;
  if (!has_allocator && !saved.allocator.empty()) request.allocator = saved.allocator;
  AddSettings(saved, environment, sentences);
  return sentences;
}

}  // namespace memtrace::command
