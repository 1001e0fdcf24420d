// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/vocabulary_words.h"

#include <algorithm>
#include <array>

#include "messages/message.h"
#include "messages/role_words.h"
#include "tools/report/words/printable.h"

namespace memtrace::report {
namespace {

static_assert(kRoleWords.size() == trace::kRoleCount);

// In the order of ledger.def.
constexpr std::array kLedgerEntries = {Marked("context"),
                                       Marked("in use"),
                                       Marked("rounding"),
                                       Marked("waiting for another stream"),
                                       Marked("cached"),
                                       Marked("free beside blocks (holes)"),
                                       Marked("free in private pools"),
                                       Marked("outside the allocator"),
                                       Marked("other processes"),
                                       Marked("free"),
                                       Marked("unexplained")};
static_assert(kLedgerEntries.size() == analysis::kLedgerParts);

// In the order of off_card.def.
constexpr std::array kOffCardEntries = {Marked("asleep"), Marked("in use on the host"),
                                        Marked("host: copies of what sleeps"),
                                        Marked("host: kept for the next sleep")};
static_assert(kOffCardEntries.size() == analysis::kOffCardParts);

constexpr std::array kOutsideKinds = {Marked("device"),   Marked("stream-ordered"),
                                      Marked("physical"), Marked("managed"),
                                      Marked("host"),     Marked("registered")};

constexpr std::array kSites = {
    Marked("none"),        Marked("no stack"),     Marked("no module"),   Marked("in init"),
    Marked("in forward"),  Marked("in recompute"), Marked("in backward"), Marked("in optimizer"),
    Marked("in evaluate"), Marked("in generate")};
// The last of them name the phases except "other", which is the first of phases.def.
constexpr std::array<std::string_view, trace::kPhaseCount> kInPhases = {
#define MEMTRACE_PHASE(name, word) "in " word,
#include "profiler/trace/vocabulary/phases.def"
#undef MEMTRACE_PHASE
};
static_assert(std::equal(kInPhases.begin() + 1, kInPhases.end(), kSites.begin() + 3, kSites.end()));

}  // namespace

std::optional<trace::Role> RoleNamed(std::string_view name) {
  for (size_t i = 0; i < trace::kRoleCount; ++i)
    if (const auto role = static_cast<trace::Role>(i); name == RoleName(role)) return role;
  return std::nullopt;
}

std::string RoleWords(trace::Role role) { return MessageOf(kRoleWords[static_cast<size_t>(role)]); }

std::string RoleWords(std::string_view name) {
  const std::optional<trace::Role> role = RoleNamed(name);
  return role ? RoleWords(*role) : Printable(name);
}

std::string LedgerWords(analysis::LedgerPart part) {
  return MessageOf(kLedgerEntries[static_cast<size_t>(part)]);
}

std::string OffCardWords(analysis::OffCardPart part) {
  return MessageOf(kOffCardEntries[static_cast<size_t>(part)]);
}

std::string EvidenceWords(analysis::Evidence evidence) {
  constexpr std::array kEvidence = {Marked("unknown"), Marked("guessed"), Marked("inferred"),
                                    Marked("stated")};
  return MessageOf(kEvidence[static_cast<size_t>(evidence)]);
}

std::string OutsideKindWords(trace::OutsideKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kOutsideKinds.size() ? MessageOf(kOutsideKinds[index]) : Message("unknown");
}

std::string SiteWords(std::string_view site) {
  const bool is_bracketed = site.starts_with('(') && site.ends_with(')');
  const std::string_view inner = is_bracketed ? site.substr(1, site.size() - 2) : site;
  const bool has_words = std::find(kSites.begin(), kSites.end(), inner) != kSites.end();
  if (!has_words || (!is_bracketed && !inner.starts_with("in "))) return Printable(site);
  return is_bracketed ? "(" + MessageOf(inner) + ")" : MessageOf(inner);
}

}  // namespace memtrace::report
