// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "CLI/CLI.hpp"
#include "interpose/simulated_card/spec/card_profile.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/cards_report.h"

namespace memtrace::command {
namespace {

constexpr const char* kCardsDescription =
    "List the cards that --card knows by name\n"
    "Each figure says how it is known: measured, from the data sheet, or assumed.\n"
    "\n"
    "Usage: memtrace cards [OPTIONS]";
constexpr const char* kCardsExamples =
    "Examples:\n"
    "  memtrace cards                                            a table\n"
    "  memtrace run --card rtx-4090 -- python train.py           use one of them\n"
    "  memtrace run --card 2x24GiB,cc=8.9 -- python train.py     use cards that are not listed";

}  // namespace

void DefineCards(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  app.description(kCardsDescription);
  app.footer(kCardsExamples);
  app.add_flag("--json", *json, "Print JSON (schema memtrace.cards/1) instead of text")
      ->group("Output");
  app.callback([json, &exit_code] {
    std::cout << (*json ? report::JsonCards(card::CardProfiles())
                        : report::TextCards(card::CardProfiles()))
              << std::flush;
    exit_code = kDone;
  });
}

}  // namespace memtrace::command
