// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer/batches.h"

#include "nlohmann/json.hpp"

namespace memtrace::fit {

std::vector<std::string> BatchSentencesOf(std::string_view text) {
  const nlohmann::json loaders = nlohmann::json::parse(text, nullptr, false);
  std::vector<std::string> sentences;
  for (const nlohmann::json& loader : loaders.is_array() ? loaders : nlohmann::json::array()) {
    const auto said = loader.is_object() ? loader.find("said") : loader.end();
    if (!loader.is_object() || said == loader.end() || !said->is_array()) return {};
    for (const nlohmann::json& sentence : *said)
      if (sentence.is_string()) sentences.push_back(sentence.get<std::string>());
  }
  return sentences;
}

}  // namespace memtrace::fit
