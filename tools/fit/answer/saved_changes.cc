// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer/saved_changes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/environment.h"
#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/annotation.h"
#include "tools/fit/changes/change_names.h"
#include "tools/fit/changes/changed_places.h"
#include "tools/fit/changes/script_version.h"
#include "tools/launch/program_file.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

using nlohmann::ordered_json;

constexpr std::string_view kSchema = "memtrace.changes/1";
constexpr std::string_view kExpandable = "expandable_segments:True";

// Returns what stands before and after the first separator.
std::pair<std::string, std::string> Split(std::string_view word, char separator) {
  const size_t at = word.find(separator);
  if (at == std::string_view::npos) return {std::string(word), ""};
  return {std::string(word.substr(0, at)), std::string(word.substr(at + 1))};
}

// Returns "train.py:41" if the file is in the current folder.
std::string Relative(const std::string& line) {
  std::error_code error;
  const std::string near = fs::path(line).lexically_proximate(fs::current_path(error)).string();
  return error || near.rfind("..", 0) == 0 ? line : near;
}

SavedChange ChangeOf(const Candidate& candidate, const analysis::Annotations& annotations) {
  const auto [name, degree] = Split(candidate.HookWord(), '=');
  SavedChange change{.name = name, .degree = degree, .write = candidate.change};
  if (const std::optional<ChangedPlaces> changed = ChangedPlacesOf(annotations, name)) {
    change.places = changed->places;
    change.of = changed->of;
    change.target = changed->target;
    // The first place is a path in a model, or a line of the program.
    const bool is_line = changed->first.find(':') != std::string::npos;
    (is_line ? change.line : change.first) = is_line ? Relative(changed->first) : changed->first;
  }
  // "backward:9": the places at the moment at which a run is compared with this trial.
  const auto [by, places] =
      Split(analysis::AnnotatedText(annotations, trace::fact::kFitMade.Of(name)), ':');
  change.by = by;
  if (uint64_t number = 0; absl::SimpleAtoi(places, &number)) change.places = number;
  return change;
}

ordered_json JsonOf(const SavedChange& change) {
  ordered_json json = {{"name", change.name}};
  if (!change.degree.empty()) json["degree"] = change.degree;
  json["by"] = change.by;
  json["places"] = change.places;
  json["of"] = change.of;
  json["target"] = change.target;
  json["first"] = change.first;
  json["line"] = change.line;
  json["write"] = change.write;
  return json;
}

std::string TextIn(const ordered_json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

uint64_t NumberIn(const ordered_json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

ordered_json PartIn(const ordered_json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? ordered_json() : *found;
}

std::vector<std::string> TextsIn(const ordered_json& json, const char* key) {
  std::vector<std::string> texts;
  for (const ordered_json& text : PartIn(json, key))
    if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

std::map<std::string, std::string> MapIn(const ordered_json& json, const char* key) {
  std::map<std::string, std::string> map;
  const ordered_json part = PartIn(json, key);
  if (!part.is_object()) return map;
  for (const auto& [name, value] : part.items())
    if (value.is_string()) map[name] = value.get<std::string>();
  return map;
}

SavedChange ReadChange(const ordered_json& json) {
  return {.name = TextIn(json, "name"),
          .degree = TextIn(json, "degree"),
          .by = TextIn(json, "by"),
          .places = NumberIn(json, "places"),
          .of = NumberIn(json, "of"),
          .target = TextIn(json, "target"),
          .first = TextIn(json, "first"),
          .line = TextIn(json, "line"),
          .write = TextIn(json, "write")};
}

// Returns a sentence if this memtrace cannot make the change; else "".
std::string WhyUnknown(const SavedChange& change) {
  const std::optional<remedies::Row> row = FindChange(change.name);
  const std::string names = absl::StrJoin(ChangeNames(), ", ");
  if (!row) return Message("there is no change '$0'; the changes are $1", change.name, names);
  if (change.degree.empty()) return "";
  const auto degrees = remedies::DegreesOf(row->id);
  uint64_t number = 0;
  if (!degrees || !degrees->has_degree()) return Message("'$0' takes no number", change.name);
  if (!absl::SimpleAtoi(change.degree, &number) || number == 0)
    return Message("'$0' of $1 is not a number from 1 on", change.degree, change.name);
  return "";
}

SavedChanges ReadAll(const ordered_json& json) {
  const ordered_json script = PartIn(json, "script");
  const ordered_json expects = PartIn(json, "expects");
  SavedChanges saved{.torch = TextIn(json, "torch"),
                     .packages = MapIn(json, "packages"),
                     .script = TextIn(script, "name"),
                     .script_version = TextIn(script, "sha256"),
                     .arguments = TextsIn(script, "arguments"),
                     .options = TextsIn(script, "options"),
                     .card = TextIn(json, "card"),
                     .allocator = TextIn(json, "allocator"),
                     .settings = MapIn(json, "settings"),
                     .changes = {},
                     .peak_allocated = NumberIn(expects, "peak_allocated"),
                     .peak_reserved = NumberIn(expects, "peak_reserved")};
  for (const ordered_json& change : PartIn(json, "changes"))
    saved.changes.push_back(ReadChange(change));
  return saved;
}

// Takes over what the trace says about the program.
void AddProgram(const Outcome& outcome, SavedChanges& saved) {
  saved.torch = outcome.program.torch;
  saved.script = outcome.program.script;
  saved.script_version = outcome.program.script_version;
  for (const auto& [name, version] :
       analysis::AnnotatedAll(outcome.annotations, trace::fact::kFitPackage))
    saved.packages[std::string(name)] = std::string(version);
  for (const CardNeed& need : Joined(outcome.processes)) {
    if (need.peak_allocated < saved.peak_allocated) continue;
    saved.peak_allocated = need.peak_allocated;
    saved.peak_reserved = need.peak_reserved;
  }
}

// Returns the words of the command that are files with the name of the trial's script.
std::vector<std::string> FilesNamed(const std::string& name,
                                    const std::vector<std::string>& command) {
  std::vector<std::string> files;
  std::error_code error;
  for (const std::string& word : command)
    if (fs::path(word).filename() == name && fs::is_regular_file(word, error))
      files.push_back(word);
  return files;
}

absl::Status CheckScript(const SavedChanges& saved, const std::string& file,
                         const std::vector<std::string>& command) {
  if (saved.script_version.empty()) return absl::OkStatus();
  const std::vector<std::string> files = FilesNamed(saved.script, command);
  const bool is_same = std::any_of(files.begin(), files.end(), [&saved](const std::string& of) {
    return ScriptVersion(of) == saved.script_version;
  });
  if (is_same) return absl::OkStatus();
  if (!files.empty())
    return absl::InvalidArgumentError(
        Message("$0 was made for another version of $1. --with-what-can-be applies it all the "
                "same; memtrace fit --save-plan makes it again",
                file, files.front()));
  const auto script = launch::PythonScript(command);
  if (!launch::IsPythonInterpreter(command.front()) || !script) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Message("$0 was made for $1, and the command runs $2. --with-what-can-be applies it all the "
              "same",
              file, saved.script, *script));
}

}  // namespace

SavedChanges SavedChangesOf(const Question& question, const Answer& answer) {
  const TriedRemedy& remedy = answer.remedies[*answer.recommended];
  const Trial trial =
      WithChanges(question.trial, remedy.changes, question.user_settings, question.Options());
  SavedChanges saved{.card = absl::StrJoin(question.trial.cards, ";"),
                     .allocator = trial.allocator};
  AddProgram(remedy.outcome, saved);
  if (const auto conf = trial.set.find(env::kTorchCudaAllocConf.name()); conf != trial.set.end())
    saved.settings[conf->first] = conf->second;
  for (const Candidate& candidate : remedy.changes) {
    if (!candidate.option.empty())
      saved.options.push_back(absl::StrCat(candidate.option, "=", candidate.value));
    if (!candidate.hook.empty())
      saved.changes.push_back(ChangeOf(candidate, remedy.outcome.annotations));
  }
  // The words of a command may hold secrets, so they are saved only where they are needed.
  if (!saved.options.empty()) saved.arguments = trial.command;
  return saved;
}

std::string TextOf(const SavedChanges& saved) {
  ordered_json changes = ordered_json::array();
  for (const SavedChange& change : saved.changes) changes.push_back(JsonOf(change));
  const ordered_json json = {
      {"schema", kSchema},
      {"torch", saved.torch},
      {"packages", saved.packages},
      {"script",
       {{"name", saved.script},
        {"sha256", saved.script_version},
        {"arguments", saved.arguments},
        {"options", saved.options}}},
      {"card", saved.card},
      {"allocator", saved.allocator},
      {"settings", saved.settings},
      {"changes", std::move(changes)},
      {"expects",
       {{"peak_allocated", saved.peak_allocated}, {"peak_reserved", saved.peak_reserved}}}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

absl::StatusOr<SavedChanges> ReadSavedChanges(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const ordered_json json = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  const std::string schema = TextIn(json, "schema");
  if (schema.rfind("memtrace.changes/", 0) != 0)
    return absl::InvalidArgumentError(
        Message("$0 is not a file that memtrace fit --save-plan wrote", file));
  if (schema != kSchema)
    return absl::InvalidArgumentError(
        Message("$0 has the schema $1, and this memtrace reads $2; make it again with memtrace fit "
                "--save-plan",
                file, schema, kSchema));
  SavedChanges saved = ReadAll(json);
  for (const SavedChange& change : saved.changes)
    if (const std::string why = WhyUnknown(change); !why.empty())
      return absl::InvalidArgumentError(Message("$0: $1", file, why));
  return saved;
}

absl::StatusOr<SavedChanges> ParseChanges(std::string_view names) {
  SavedChanges saved;
  for (const auto word : absl::StrSplit(absl::string_view(names.data(), names.size()), ',')) {
    const auto [name, degree] = Split(std::string_view(word.data(), word.size()), '=');
    SavedChange change{.name = name, .degree = degree};
    if (const std::string why = WhyUnknown(change); !why.empty())
      return absl::InvalidArgumentError(why);
    const remedies::Row row = *FindChange(name);
    change.name = std::string(row.hook);
    if (row.id == remedies::Id::kExpandableSegments) {
      saved.allocator = "native";  // which has this setting
      saved.settings[env::kTorchCudaAllocConf.name()] = std::string(kExpandable);
    } else {
      saved.changes.push_back(std::move(change));
    }
  }
  return saved;
}

absl::Status CheckCommand(const SavedChanges& saved, const std::string& file,
                          const std::vector<std::string>& command) {
  if (absl::Status wrong = CheckScript(saved, file, command); !wrong.ok()) return wrong;
  const bool has_options = saved.options.empty() || (command.size() == saved.arguments.size() &&
                                                     std::equal(command.begin() + 1, command.end(),
                                                                saved.arguments.begin() + 1));
  if (has_options) return absl::OkStatus();
  return absl::InvalidArgumentError(Message("$0 needs $1; run: $2", file,
                                            absl::StrJoin(saved.options, ", "),
                                            absl::StrJoin(saved.arguments, " ")));
}

std::string WordsOf(const SavedChanges& saved) {
  std::vector<std::string> words;
  words.reserve(saved.changes.size());
  for (const SavedChange& change : saved.changes)
    words.push_back(change.degree.empty() ? change.name
                                          : absl::StrCat(change.name, "=", change.degree));
  return absl::StrJoin(words, ",");
}

}  // namespace memtrace::fit
