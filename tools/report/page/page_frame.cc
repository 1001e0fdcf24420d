// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/page_frame.h"

#include "messages/language.h"
#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/page/html_document.h"
#include "tools/report/page/page_shell.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

// Forbids the page to load, send or embed anything, whatever the trace says. The only script and
// style are ours, and the browser turns no text into markup or code (trusted types).
std::string Policy() {
  return "default-src 'none'; script-src '" + std::string(kPageScriptHash) + "'; style-src '" +
         std::string(kPageStyleHash) +
         "'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
         "trusted-types 'none'";
}

std::string Head(const std::string& title) {
  constexpr size_t kMostOfTitle = 120;
  return "<!doctype html>\n<html lang=\"" + std::string(TagOf(CurrentLanguage())) +
         "\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         Policy() +
         "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         HtmlEscaped(Shortened(Printable(title), kMostOfTitle)) + "</title>\n<style>" +
         std::string(kPageStyle) + "</style>\n</head>\n";
}

// Returns the texts of the script, which src/messages.ts reads before it opens the run's data.
// Empty in English.
std::string Translations() {
  nlohmann::json texts = nlohmann::json::object();
  for (const auto& [english, text] : messages::PageTranslations())
    texts[std::string(english)] = std::string(text);
  return texts.empty() ? "" : DataTemplate("translations", HtmlEscaped(texts.dump()));
}

}  // namespace

std::string FramedPage(const PageContent& content) {
  return Head(content.title) + "<body>\n<main>\n<h1>" + HtmlEscaped(content.heading) + "</h1>\n" +
         content.main + "</main>\n" + Translations() + content.data + "<script>" +
         std::string(kPageScript) + "</script>\n</body>\n</html>\n";
}

// Returns the text in a code fence, as issues take it. One click selects all of it.
std::string HtmlWith(std::string_view id, const Document& document, const std::string& drawing) {
  std::string html;
  for (const Section& section : document) {
    html += HtmlOf({section});
    if (section.id == id && !section.parts.empty()) html += drawing;
  }
  return html;
}

std::string CopyableTextOf(const Document& document) {
  return "<details id=\"ticket\"><summary>" + HtmlEscaped(Message("As text, for a ticket")) +
         "</summary><pre tabindex=\"0\">```\n" + HtmlEscaped(TextOf(document)) +
         "```</pre></details>\n";
}

std::string DataTemplate(std::string_view id, const std::string& data) {
  return "<template id=\"" + HtmlEscaped(id) + "\">" + data + "</template>\n";
}

}  // namespace memtrace::report
