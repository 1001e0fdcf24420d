// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/help/usage_error.h"

#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_replace.h"
#include "messages/message.h"
#include "tools/command/help/suggestion.h"

namespace memtrace::command {
namespace {

// Returns the texts before and after `mark`; the second is empty if there is no mark.
std::pair<std::string, std::string> SplitAt(std::string_view text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + mark.size()))};
}

// Returns the text after `start`; empty if it starts otherwise.
std::string After(std::string_view text, std::string_view start) {
  return text.rfind(start, 0) == 0 ? std::string(text.substr(start.size())) : "";
}

// Returns "0.1" for "0.100000", as std::to_string writes it.
std::string WithoutZeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

// Translates what a check of CLI11 says about an option's value; ours are translated already.
std::string WrongValueText(const std::string& option, const std::string& why) {
  if (const auto [value, list] = SplitAt(why, " not in {"); !list.empty()) {
    const std::string values = absl::StrReplaceAll(list.substr(0, list.size() - 1), {{",", ", "}});
    return Message("$0 takes one of $1, not '$2'", option, values, value);
  }
  if (const auto [value, range] = SplitAt(After(why, "Value "), " not in range "); !range.empty()) {
    const auto [least, most] = SplitAt(range, " to ");
    return Message("$0 takes a number from $1 to $2, not '$3'", option, WithoutZeros(least),
                   WithoutZeros(most), value);
  }
  if (const std::string file = After(why, "File does not exist: "); !file.empty())
    return Message("$0: there is no file $1", option, file);
  if (const std::string file = After(why, "File is actually a directory: "); !file.empty())
    return Message("$0 takes a file, and $1 is a folder", option, file);
  if (const std::string folder = After(why, "Directory does not exist: "); !folder.empty())
    return Message("$0: there is no folder $1", option, folder);
  if (const std::string folder = After(why, "Directory is actually a file: "); !folder.empty())
    return Message("$0 takes a folder, and $1 is a file", option, folder);
  return option + ": " + why;
}

// Returns what CLI11's sentence says; the sentence itself if its kind has no other one.
std::string ReasonText(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !app.remaining(true).empty())
    return UnexpectedWord(app, app.remaining(true).front());
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return Message("$0 is required", SplitAt(text, " is required").first);
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const auto [one, other] = SplitAt(text, " excludes ");
    return Message("$0 cannot be used together with $1", one, other);
  }
  const auto [option, why] = SplitAt(text, ": ");
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    if (why.empty()) return text;
    const auto [name, value] = SplitAt(why, " = ");
    return value.empty() ? Message("$0 takes no value", option)
                         : Message("$0 cannot have the value '$1'", name, value);
  }
  const bool is_option = !why.empty() && app.get_option_no_throw(option) != nullptr;
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && is_option) {
    const auto [most, given] = SplitAt(After(why, "At Most "), " required but received ");
    return given.empty() ? Message("$0 needs a value", option)
                         : Message("$0 can be given at most $1 times, not $2", option, most, given);
  }
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr && is_option)
    return WrongValueText(option, why);
  return text;
}

// Says where to look next.
std::string WithNextStep(const CLI::App& app, const std::string& reason) {
  return app.get_parent() == nullptr
             ? Message("$0; memtrace --help lists the options", reason)
             : Message("$0; memtrace $1 --help lists the options", reason, app.get_name());
}

}  // namespace

std::string UsageErrorText(const CLI::App& app, const CLI::ParseError& error) {
  return WithNextStep(app, ReasonText(app, error));
}

std::string UnexpectedWordText(const CLI::App& app, const std::string& word) {
  return WithNextStep(app, UnexpectedWord(app, word));
}

}  // namespace memtrace::command
