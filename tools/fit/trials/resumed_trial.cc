// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/resumed_trial.h"

#include <fstream>

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/moments.h"

namespace memtrace::fit {
namespace {

constexpr const char* kCheckpoint = "{checkpoint}";
// Enough to see the loaded states beside activations.
constexpr uint64_t kLeastSteps = 2;
constexpr uint64_t kMostSteps = 4;

struct Checkpoint {
  std::string kind;  // as in _fit/moments/checkpoints.py
  std::string path;
};

Checkpoint CheckpointIn(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const nlohmann::json noted = nlohmann::json::parse(stream, nullptr, false);
  const bool is_noted = noted.is_object() && noted.contains("kind") && noted.contains("path") &&
                        noted["kind"].is_string() && noted["path"].is_string();
  if (!is_noted) return {};
  return {.kind = noted["kind"].get<std::string>(), .path = noted["path"].get<std::string>()};
}

}  // namespace

std::optional<Trial> ResumedTrial(const Trial& trial, const std::filesystem::path& checkpoint) {
  if (!trial.resumes) return std::nullopt;
  const Checkpoint saved = CheckpointIn(checkpoint);
  Trial then = trial;
  then.resumes = false;
  then.also.clear();
  then.least_steps = kLeastSteps;
  then.most_steps = kMostSteps;
  then.watch_seconds = 0;
  if (trial.resumed_by.empty()) {
    then.moments = trace::moment::kResume;
    if (saved.kind.empty() || saved.kind == "other") return std::nullopt;
    return then;
  }
  const bool is_named = trial.resumed_by.find(kCheckpoint) != std::string::npos;
  if (is_named && saved.path.empty()) return std::nullopt;
  then.moments.clear();
  then.command = WordsOf(trial.resumed_by);
  for (std::string& word : then.command)
    word = absl::StrReplaceAll(word, {{kCheckpoint, saved.path}});
  return then;
}

std::vector<std::string> WordsOf(std::string_view command) {
  std::vector<std::string> words;
  char quote = 0;
  bool is_inside = false;
  for (const char letter : command) {
    const bool ends = quote == 0 && (letter == ' ' || letter == '\t' || letter == '\n');
    if (ends) {
      is_inside = false;
      continue;
    }
    if (!is_inside) words.emplace_back();
    is_inside = true;
    if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
    } else if (letter == quote) {
      quote = 0;
    } else {
      words.back() += letter;
    }
  }
  return words;
}

}  // namespace memtrace::fit
