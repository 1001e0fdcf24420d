// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/program/plain_output.h"

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace memtrace::command {

std::string InAscii(std::string_view text) {
  return absl::StrReplaceAll(absl::string_view(text.data(), text.size()), {{"… ", "... "},
                                                                           {"…", "~"},
                                                                           {"·", "|"},
                                                                           {"─", "-"},
                                                                           {"█", "#"},
                                                                           {"▉", "#"},
                                                                           {"▊", "#"},
                                                                           {"▋", "#"},
                                                                           {"▌", "#"},
                                                                           {"▍", ""},
                                                                           {"▎", ""},
                                                                           {"▏", ""}});
}

PlainOutput::PlainOutput(std::ostream& stream) : stream_(stream), target_(*stream.rdbuf(this)) {}

PlainOutput::~PlainOutput() { stream_.rdbuf(&target_); }

std::streamsize PlainOutput::xsputn(const char* text, std::streamsize size) {
  const std::string plain = InAscii(std::string_view(text, static_cast<size_t>(size)));
  const auto wanted = static_cast<std::streamsize>(plain.size());
  return target_.sputn(plain.data(), wanted) == wanted ? size : 0;
}

PlainOutput::int_type PlainOutput::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return 0;
  return target_.sputc(traits_type::to_char_type(character));
}

int PlainOutput::sync() { return target_.pubsync(); }

}  // namespace memtrace::command
