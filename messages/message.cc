// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "messages/message.h"

#include <algorithm>
#include <span>

#include "messages/catalogue.h"
#include "messages/language.h"

namespace memtrace {
namespace messages {
namespace {

std::span<const Translation> CurrentTranslations() {
  switch (CurrentLanguage()) {
    case Language::kEnglish:
      return {};
    case Language::kChinese:
      return kChinese;
  }
  return {};
}

const Translation* Find(std::string_view english) {
  const std::span<const Translation> all = CurrentTranslations();
  const auto found = std::lower_bound(
      all.begin(), all.end(), english,
      [](const Translation& each, std::string_view text) { return each.english < text; });
  return found != all.end() && found->english == english ? &*found : nullptr;
}

}  // namespace

std::string_view Translated(std::string_view english) {
  const Translation* found = Find(english);
  return found == nullptr ? english : found->text;
}

std::string_view TranslatedCount(uint64_t count, std::string_view one, std::string_view many) {
  if (const Translation* found = Find(one)) return found->text;
  return count == 1 ? one : many;
}

std::vector<std::pair<std::string_view, std::string_view>> PageTranslations() {
  std::vector<std::pair<std::string_view, std::string_view>> texts;
  for (const Translation& each : CurrentTranslations()) {
    if (each.is_for_page) texts.emplace_back(each.english, each.text);
  }
  return texts;
}

}  // namespace messages

std::string JoinedSentences(const std::vector<std::string>& sentences) {
  const std::string_view between = CurrentLanguage() == Language::kChinese ? "" : " ";
  std::string text;
  for (const std::string& sentence : sentences) {
    if (sentence.empty()) continue;
    if (!text.empty()) text += between;
    text += sentence;
  }
  return text;
}

}  // namespace memtrace
