// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verify_report.h"

#include <string_view>

#include "nlohmann/json.hpp"
#include "tools/report/run_header.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"

namespace memtrace::report {
namespace {

using analysis::EventFault;
using analysis::Verification;
using nlohmann::ordered_json;

std::string State(const Verification& verification) {
  if (!verification.unreadable.empty()) return "unreadable";
  if (!verification.completeness.whole()) return "damaged";
  return verification.fault_count > 0 ? "inconsistent" : "whole";
}

std::string Events(uint64_t count) { return FormatCounted(count, "event"); }

// Says what may be missing even from a file that is whole.
std::string Remarks(const trace::Completeness& completeness) {
  std::string text;
  if (!completeness.closed) text += "; not closed: killed or still running";
  if (completeness.lost_events > 0)
    text += "; " + Events(completeness.lost_events) + " could not be recorded";
  const std::string kept = KeptBanner(completeness);
  return text + (kept.empty() ? "" : "; " + kept);
}

std::string FaultText(const Verification& verification) {
  const EventFault& first = verification.faults.front();
  std::string place = "event " + FormatCount(first.event);
  if (first.offset != 0) place += " at byte " + FormatCount(first.offset);
  if (verification.fault_count == 1) return place + " " + first.what;
  return Events(verification.fault_count) + " cannot be true; the first, " + place + ", " +
         first.what;
}

// Removes the file's name from "run.trace is empty", which follows "run.trace: ".
std::string Reason(const Verification& verification) {
  std::string_view reason = verification.unreadable;
  if (reason.starts_with(verification.file + " ") || reason.starts_with(verification.file + ": "))
    reason.remove_prefix(reason.find(' ', verification.file.size()) + 1);
  return std::string(reason);
}

std::string Sentence(const Verification& verification) {
  const std::string state = State(verification);
  if (state == "unreadable") return "UNREADABLE: " + Reason(verification);
  const std::string read = Events(verification.events) + " in " + FormatBytes(verification.bytes);
  if (state == "whole") return "whole; " + read + Remarks(verification.completeness);
  if (state == "inconsistent") return "INCONSISTENT: " + FaultText(verification) + "; " + read;
  return "DAMAGED: " + DamageText(verification.completeness) + "; " + Events(verification.events) +
         " can be read, " + FormatBytes(verification.completeness.unread_bytes) +
         " of the file cannot";
}

ordered_json FaultJson(const EventFault& fault) {
  ordered_json json = {{"event", fault.event}, {"what", fault.what}};
  if (fault.offset != 0) json["offset"] = fault.offset;
  return json;
}

ordered_json FileJson(const Verification& verification) {
  ordered_json json = {{"file", verification.file}, {"state", State(verification)}};
  if (!verification.unreadable.empty()) {
    json["reason"] = verification.unreadable;
    return json;
  }
  json["kind"] = verification.kind;
  json["bytes"] = verification.bytes;
  json["unread_bytes"] = verification.completeness.unread_bytes;
  json["events"] = verification.events;
  json["closed"] = verification.completeness.closed;
  if (!verification.completeness.whole())
    json["first_bad_offset"] = verification.completeness.first_bad_offset;
  json["lost"] = LostJson(verification.completeness);
  json["fault_count"] = verification.fault_count;
  json["faults"] = ordered_json::array();
  for (const EventFault& fault : verification.faults) json["faults"].push_back(FaultJson(fault));
  return json;
}

}  // namespace

std::string VerifyLine(const Verification& verification) {
  return Printable(verification.file) + ": " + Printable(Sentence(verification)) + "\n";
}

std::string JsonVerify(const std::vector<Verification>& verifications) {
  ordered_json files = ordered_json::array();
  for (const Verification& each : verifications) files.push_back(FileJson(each));
  return JsonText({{"schema", "memtrace.verify/1"}, {"files", files}});
}

}  // namespace memtrace::report
