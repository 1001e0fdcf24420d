// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/program/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "messages/language.h"
#include "messages/message.h"
#include "tools/command/help/help_format.h"
#include "tools/command/help/suggestion.h"
#include "tools/command/help/usage_error.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/language_option.h"
#include "tools/command/program/plain_output.h"
#include "tools/report/words/printable.h"

namespace memtrace::command {
namespace {

constexpr const char* kDescription =
    "Show what fills a CUDA card, and why a PyTorch program ran out of memory.\n"
    "memtrace runs a program with its own allocator, on a real or a simulated card. It\n"
    "records and explains how the program uses the card's memory.\n"
    "\n"
    "Usage: memtrace COMMAND [OPTIONS]";
constexpr const char* kExamples =
    "Examples:\n"
    "  memtrace run -- python train.py                  record a program on the real card\n"
    "  memtrace run --card 24GiB -- python train.py     on a simulated card, without a GPU\n"
    "  memtrace report run.trace                        why it ran out, and what holds the card";

void Define(CLI::App& program) {
  program.description(kDescription);
  program.footer(kExamples);
  program.formatter(std::make_shared<HelpFormat>());
  program.set_help_flag("-h,--help", "Print help (for a command: memtrace COMMAND --help)");
  program.set_version_flag("-V,--version", "memtrace " MEMTRACE_VERSION, "Print the version");
  program.require_subcommand(0, 1);
}

// Removes the words after `--` in `run -- python -x`: they are another program's, so CLI11 must not
// see them.
Invocation TakeAfterDashes(std::vector<std::string>& arguments) {
  Invocation invocation;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end()) return invocation;
  invocation.has_dashes = true;
  invocation.after_dashes.assign(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
  return invocation;
}

const Verb* FindVerb(const std::vector<Verb>& verbs, const std::string& name) {
  const auto found = std::find_if(verbs.begin(), verbs.end(),
                                  [&name](const Verb& verb) { return verb.name == name; });
  return found == verbs.end() ? nullptr : &*found;
}

int UnknownVerb(const std::vector<Verb>& verbs, const std::string& name) {
  const bool is_program = name.rfind("python", 0) == 0 || name == "torchrun" ||
                          name == "accelerate" || name == "deepspeed";
  if (is_program || (name.size() > 3 && name.substr(name.size() - 3) == ".py")) {
    Note(Message("there is no command '$0'; to record a program, write memtrace run -- $1 ...",
                 name, is_program ? name : "python " + name));
    return kUsage;
  }
  std::vector<std::string> names;
  names.reserve(verbs.size());
  for (const Verb& verb : verbs) names.emplace_back(verb.name);
  const std::string nearest = NearestOf(name, names);
  Note(nearest.empty()
           ? Message("there is no command '$0'; memtrace --help lists the commands", name)
           : Message("there is no command '$0' (did you mean '$1'?); memtrace --help lists the "
                     "commands",
                     name, nearest));
  return kUsage;
}

int WrongUsage(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  Note(UsageErrorText(chosen.empty() ? program : *chosen.front(), error));
  return kUsage;
}

// Opens closed standard streams, so that a file opened later does not get an output's number.
void OccupyOutputs() {
  for (const int output : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(output, F_GETFD) < 0) open("/dev/null", output == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Fails if the result was not written, however well the verb read its input.
int CheckOutput(int exit_code) {
  std::cout.flush();
  if (std::cout) return exit_code;
  const int error = errno;
  const bool is_told = error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO ||
                       error == EBADF || error == EPIPE;
  Note(is_told
           ? Message("the result could not be written to stdout ($0); free some space, or write "
                     "it elsewhere",
                     std::strerror(error))
           : Message("the result could not be written to stdout; free some space, or write it "
                     "elsewhere"));
  return kEnvironment;
}

// Translates `memtrace help` to --help, and `memtrace help VERB` to the verb's --help.
void TranslateHelp(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  if (arguments.empty() || arguments.front() == "help") {
    arguments = {"--help"};
  } else if (arguments.front().rfind('-', 0) != 0) {
    arguments = {arguments.front(), "--help"};
  }
}

// Results for programs are English, whatever the locale is; `--lang` is parsed later and decides.
void UseEnglishForJson(const std::vector<std::string>& arguments) {
  if (std::find(arguments.begin(), arguments.end(), "--json") != arguments.end())
    SetLanguage(Language::kEnglish);
}

int Parse(CLI::App& program, const std::vector<std::string>& arguments, const int& exit_code) {
  try {
    // CLI11 takes the words in reverse order.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    program.parse(reversed);
  } catch (const CLI::Success& request) {  // --help, --version
    return program.exit(request);
  } catch (const CLI::ParseError& error) {
    UseLanguageIn(arguments);  // the error may come before the option
    return WrongUsage(program, error);
  }
  return exit_code;
}

}  // namespace

std::vector<std::string> CommandOf(std::vector<std::string> remaining,
                                   const Invocation& invocation) {
  if (!remaining.empty() && invocation.has_dashes) remaining.emplace_back("--");
  remaining.insert(remaining.end(), invocation.after_dashes.begin(), invocation.after_dashes.end());
  return remaining;
}

void Note(std::string_view sentence) {
  std::cerr << "memtrace: " << report::Printable(sentence) << "\n";
}

int RefuseResult(const absl::Status& status) {
  Note(std::string(status.message()));
  return absl::IsUnavailable(status) ? kEnvironment : kUsage;
}

int RunProgram(const std::vector<Verb>& verbs, std::vector<std::string> arguments) {
  CLI::App program;
  Define(program);
  TranslateHelp(arguments);
  const Verb* verb = arguments.empty() ? nullptr : FindVerb(verbs, arguments.front());
  if (verb == nullptr && !arguments.empty() && arguments.front().rfind('-', 0) != 0) {
    UseLanguageIn(arguments);
    return UnknownVerb(verbs, arguments.front());
  }
  const bool starts_program = verb != nullptr && verb->starts_program;
  const Invocation invocation = starts_program ? TakeAfterDashes(arguments) : Invocation();
  if (!starts_program) {  // a started program would inherit both
    OccupyOutputs();
    std::signal(SIGXFSZ, SIG_IGN);  // a write over the file size limit returns an error
  }
  UseEnglishForJson(arguments);
  std::optional<PlainOutput> plain;
  std::optional<PlainOutput> plain_notes;
  if (!TerminalShowsUtf8()) {
    plain.emplace(std::cout);
    plain_notes.emplace(std::cerr);
  }
  int exit_code = kDone;
  for (const Verb& each : verbs) {
    CLI::App& app = *program.add_subcommand(std::string(each.name));
    app.set_help_flag("-h,--help", "Print help");
    each.define(app, invocation, exit_code);
    AddLanguageOption(app);
  }
  if (arguments.empty()) {
    std::cerr << program.help();
    return kUsage;
  }
  return CheckOutput(Parse(program, arguments, exit_code));
}

}  // namespace memtrace::command
