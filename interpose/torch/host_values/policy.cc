// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/host_values/policy.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace memtrace::shim {
namespace {

std::vector<std::string> Words(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<double> Value(const std::string& word) {
  if (word == "true") return 1;
  if (word == "false") return 0;
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0') return std::nullopt;
  return value;
}

// Returns an empty list if a word is not a value.
std::vector<double> Values(const std::vector<std::string>& words) {
  std::vector<double> values;
  for (const std::string& word : words) {
    const std::optional<double> value = Value(word);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

OperatorRule::Place PlaceOf(const std::string& word) {
  const size_t colon = word.rfind(':');
  const std::string behind = colon == std::string::npos ? "" : word.substr(colon + 1);
  const auto line = static_cast<int>(std::strtol(behind.c_str(), nullptr, 10));  // 0: not a number
  return {.file = line > 0 ? word.substr(0, colon) : word, .line = line, .answer = {}};
}

std::string Sentence(const std::string& file, int line, const std::string& wrong) {
  std::string sentence = file + ":";
  sentence += std::to_string(line);
  sentence += ": ";
  sentence += wrong;
  return sentence;
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string AddRead(OperatorRule& rule, const std::vector<double>& values,
                    std::optional<OperatorRule::Place> place) {
  if (values.size() != 3)
    return "read needs three values: for a condition, a whole number and a real number";
  const ReadAnswer answer{.condition = values[0], .whole = values[1], .real = values[2]};
  if (place) {
    place->answer = answer;
    rule.reads_at.insert(rule.reads_at.begin(), *place);  // the last one given wins
  } else {
    rule.read = answer;
  }
  return "";
}

// Returns the choice that a word names; kNone if it names none.
Choice ChoiceOf(const std::string& word) {
  if (word == "balanced") return Choice::kEven;
  return word == "first" ? Choice::kFirst : Choice::kNone;
}

// Adds "balanced" or "first", each perhaps with a number. Returns false if it is neither.
bool AddChoice(OperatorRule& rule, const std::vector<std::string>& words) {
  const Choice choice = words.empty() ? Choice::kNone : ChoiceOf(words[0]);
  if (choice == Choice::kNone || words.size() > 2) return false;
  const std::optional<double> most = words.size() == 2 ? Value(words[1]) : 0;
  if (!most || *most < 0) return false;
  rule.choice = choice;
  rule.most_choices = static_cast<int64_t>(*most);
  rule.result.reset();
  return true;
}

// Rules without values. Returns false if it is none of them.
bool AddWord(OperatorRule& rule, const std::string& verb, const std::vector<std::string>& words) {
  if (verb == "result" && AddChoice(rule, words)) return true;
  if (!words.empty()) return false;
  if (verb == "open") rule.open = true;
  if (verb == "never") rule.never = true;
  if (verb == "widens") rule.widens = true;
  if (verb == "private") rule.is_private = true;
  return verb == "open" || verb == "never" || verb == "widens" || verb == "private";
}

std::string AddValues(OperatorRule& rule, const std::string& verb,
                      const std::vector<double>& values) {
  if (verb == "inside") {
    if (values.empty()) return "inside needs values: true, false or numbers";
    rule.inside = values;
    return "";
  }
  if (values.size() != 1) {
    return verb + " needs one value: true, false or a number" +
           (verb == "result" ? ", or the word balanced or first" : "");
  }
  if (verb == "result") {
    rule.result = values[0];
    rule.choice = Choice::kNone;
  }
  if (verb == "count") rule.count = std::clamp(values[0], 0.0, 1.0);
  return "";
}

}  // namespace

ReadAnswer OperatorRule::AnswerAt(const std::vector<PythonLine>& stack) const {
  for (const Place& place : reads_at) {
    for (const PythonLine& at : stack) {
      if (EndsWith(at.file, place.file) && (place.line == 0 || place.line == at.line)) {
        return place.answer;
      }
    }
  }
  return read.value_or(ReadAnswer{});
}

std::string HostValuesPolicy::AddFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return "cannot read " + path;
  std::ostringstream text;
  text << file.rdbuf();
  return AddText(text.str(), path);
}

std::string HostValuesPolicy::AddText(std::string_view text, const std::string& name) {
  std::istringstream stream{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::vector<std::string> words = Words(line);
    const std::string wrong = words.empty() ? "" : AddLine(words);
    if (!wrong.empty()) return Sentence(name, number, wrong);
  }
  return "";
}

std::string HostValuesPolicy::AddSetting(const std::vector<std::string>& words) {
  const std::optional<double> value = words.size() == 3 ? Value(words[2]) : std::nullopt;
  if (!value || *value < 1) return words[0] + " needs a kind and a number of 1 or more";
  const std::string name = words[0] + " " + words[1];
  if (name == "limit whole") {
    most_whole = static_cast<int64_t>(*value);
  } else if (name == "limit real") {
    most_real = static_cast<int64_t>(*value);
  } else if (name == "stop condition") {
    stop_condition = static_cast<uint64_t>(*value);
  } else if (name == "stop number") {
    stop_number = static_cast<uint64_t>(*value);
  } else {
    return "'" + name +
           "' is not a setting; the settings are limit whole, limit real, stop condition, stop "
           "number";
  }
  return "";
}

std::string HostValuesPolicy::AddLine(const std::vector<std::string>& words) {
  if (words[0] == "limit" || words[0] == "stop") return AddSetting(words);
  if (words[0].find("::") == std::string::npos) {
    return words[0] + " is not an operator; write its name with its library, as in aten::argmax";
  }
  std::optional<OperatorRule::Place> place;
  size_t verb_at = 1;
  if (words.size() > 2 && words[1] == "at") {
    place = PlaceOf(words[2]);
    verb_at = 3;
  }
  const std::string verb = words.size() > verb_at ? words[verb_at] : "";
  std::vector<std::string> rest;
  if (words.size() > verb_at)
    rest.assign(words.begin() + static_cast<long>(verb_at) + 1, words.end());
  if (place && verb != "read") return "only read may have a place (at FILE)";
  OperatorRule& rule = rules_[words[0]];
  if (AddWord(rule, verb, rest)) return "";
  if (verb == "read") return AddRead(rule, Values(rest), place);
  if (verb == "inside" || verb == "result" || verb == "count") {
    return AddValues(rule, verb, Values(rest));
  }
  if (verb == "writes" && !rest.empty()) {
    rule.writes = std::move(rest);
    return "";
  }
  return "'" + verb +
         "' is not a rule; the rules are read, inside, result, count, writes, open, never, widens, "
         "private";
}

const OperatorRule* HostValuesPolicy::Find(const std::string& name,
                                           const std::string& overload) const {
  static const auto* none = new OperatorRule;
  auto rule = overload.empty() ? rules_.end() : rules_.find(name + "." + overload);
  if (rule == rules_.end()) rule = rules_.find(name);
  return rule == rules_.end() ? none : &rule->second;
}

std::vector<std::string> HostValuesPolicy::OperatorNames() const {
  std::vector<std::string> names;
  names.reserve(rules_.size());
  for (const auto& [name, rule] : rules_) names.push_back(name);
  return names;
}

}  // namespace memtrace::shim
