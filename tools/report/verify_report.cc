// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verify_report.h"

#include <string_view>

#include "messages/message.h"
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

std::string LostText(const trace::Completeness& completeness) {
  if (completeness.lost_events == 0) return "";
  return CountedMessage(completeness.lost_events, "1 event could not be recorded.",
                        "$0 events could not be recorded.", FormatCount(completeness.lost_events));
}

std::string FaultText(const Verification& verification) {
  const EventFault& first = verification.faults.front();
  const std::string event = FormatCount(first.event);
  const std::string place = first.offset == 0
                                ? Message("event $0", event)
                                : Message("event $0 at byte $1", event, FormatCount(first.offset));
  return CountedMessage(verification.fault_count, "INCONSISTENT: $0 cannot be true: $1.",
                        "INCONSISTENT: $2 events cannot be true. The first is $0: $1.", place,
                        first.what, FormatCount(verification.fault_count));
}

// Removes the file's name from "run.trace is empty", which follows "run.trace: ".
std::string Reason(const Verification& verification) {
  std::string_view reason = verification.unreadable;
  if (reason.starts_with(verification.file + " ") || reason.starts_with(verification.file + ": "))
    reason.remove_prefix(reason.find(' ', verification.file.size()) + 1);
  return std::string(reason);
}

std::string Sentences(const Verification& verification) {
  const std::string state = State(verification);
  const trace::Completeness& completeness = verification.completeness;
  if (state == "unreadable") return Message("UNREADABLE: $0", Reason(verification));
  if (state == "damaged") {
    return JoinedSentences(
        {Message("DAMAGED: $0", DamageText(completeness)), ReadableEventsText(verification.events),
         Message("$0 of the file cannot be read.", FormatBytes(completeness.unread_bytes))});
  }
  const std::string read = CountedMessage(
      verification.events, "The file has 1 event in $0.", "The file has $1 events in $0.",
      FormatBytes(verification.bytes), FormatCount(verification.events));
  if (state == "inconsistent") return JoinedSentences({FaultText(verification), read});
  return JoinedSentences({Message("whole."), read, NotClosedText(completeness),
                          LostText(completeness), KeptBanner(completeness)});
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
  return Printable(verification.file) + ": " + Printable(Sentences(verification)) + "\n";
}

std::string JsonVerify(const std::vector<Verification>& verifications) {
  ordered_json files = ordered_json::array();
  for (const Verification& each : verifications) files.push_back(FileJson(each));
  return JsonText({{"schema", "memtrace.verify/1"}, {"files", files}});
}

}  // namespace memtrace::report
