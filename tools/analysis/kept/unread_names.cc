// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/unread_names.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"
#include "tools/analysis/source/storage_places.h"

namespace memtrace::analysis {
namespace {

constexpr std::string_view kKey = trace::fact::kNamesUnread;

std::optional<UnreadName> ParseLine(const std::string& line) {
  const std::vector<std::string> parts = absl::StrSplit(line, '\t');
  UnreadName found;
  if ((parts.size() != 5 && parts.size() != 6) || !absl::SimpleAtoi(parts[3], &found.line))
    return std::nullopt;
  found.name = parts[0];
  found.function = parts[1];
  found.file = parts[2];
  found.storages = ParseStoragePlaces(parts[4]);
  found.is_replaced = parts.size() == 6 && parts[5] == "replaced";
  found.is_read_by_line = parts.size() == 6 && parts[5] == "read";
  found.is_cached = parts.size() == 6 && parts[5] == "cached";
  return found;
}

// Returns the frame of the function that has the name; null if the stack does not contain it.
const trace::Frame* FrameOf(const UnreadName& name, const std::vector<trace::Frame>& stack) {
  const auto found = std::find_if(stack.begin(), stack.end(), [&name](const trace::Frame& frame) {
    return frame.file == name.file && BareFunction(frame.function) == name.function;
  });
  return found == stack.end() ? nullptr : &*found;
}

// The line that the function of a name is at, by stack; 0 if it is in none of the frames.
class LinesOf {
 public:
  LinesOf(const UnreadName& name, const EventSource& source) : name_(name), source_(source) {}

  uint32_t Line(const std::vector<trace::Frame>& stack) const {
    const trace::Frame* frame = FrameOf(name_, stack);
    return frame == nullptr ? 0 : frame->line;
  }
  uint32_t Line(trace::StackId stack) {
    const auto [known, is_new] = known_.try_emplace(stack, 0);
    if (is_new) known->second = Line(source_.Stack(stack));
    return known->second;
  }

 private:
  const UnreadName& name_;
  const EventSource& source_;
  absl::flat_hash_map<trace::StackId, uint32_t> known_;
};

// Sums up what one name still holds.
class Valuation {
 public:
  Valuation(const UnreadName& name, const ValueQuestion& question)
      : question_(question), lines_(name, question.source) {
    value_.name = name.name;
    file_ = ShortFile(name.file);
    value_.place = LineText(name.line);
    value_.is_read_by_line = name.is_read_by_line;
    value_.is_cached = name.is_cached;
    is_replaced_ = name.is_replaced;
  }

  void Add(const Block& block) {
    const uint64_t bytes = block.allocation.requested;
    sums_[{lines_.Line(block.allocation.stack), block.birth.step}] += bytes;
    value_.bytes += bytes;
    ++value_.blocks;
  }

  // Returns nothing if the name holds nothing.
  std::optional<UnreadValue> Finish() {
    if (value_.bytes == 0) return std::nullopt;
    const auto most =
        std::max_element(sums_.begin(), sums_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto [line, step] = most->first;
    value_.step = step;
    if (line != 0) value_.made_at = LineText(line);
    value_.is_earlier = line != 0 && !value_.is_cached && MakesNext(line);
    if (is_replaced_) {
      value_.made_at = value_.place;
      value_.is_earlier = true;
    }
    return value_;
  }

 private:
  std::string LineText(uint32_t line) const { return file_ + ":" + std::to_string(line); }

  // True if the line had begun to make another value: it requested memory when a request failed, or
  // it made a block in the step of the moment, which is a later one.
  bool MakesNext(uint32_t line) {
    if (!question_.request_stack.empty()) return lines_.Line(question_.request_stack) == line;
    if (value_.step >= question_.at.step) return false;
    return std::any_of(question_.captured.begin(), question_.captured.end(),
                       [&](const CapturedBlock& entry) {
                         const Block& block = question_.live.block(entry.id);
                         return !entry.waiting && block.birth.step == question_.at.step &&
                                lines_.Line(block.allocation.stack) == line;
                       });
  }

  const ValueQuestion& question_;
  LinesOf lines_;
  std::string file_;
  UnreadValue value_;
  bool is_replaced_ = false;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> sums_;  // bytes, by line and step
};

}  // namespace

std::vector<UnreadName> ParseUnreadNames(std::string_view text) {
  std::vector<UnreadName> names;
  const std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n', absl::SkipEmpty());
  for (const std::string& line : lines)
    if (auto name = ParseLine(line)) names.push_back(*std::move(name));
  return names;
}

void UnreadNames::See(const trace::Event& event, uint64_t ordinal) {
  const auto* annotate = std::get_if<trace::Annotate>(&event.payload);
  if (annotate != nullptr && source_.String(annotate->key) == kKey)
    looks_[ordinal] = annotate->value;
}

void UnreadNames::LookUp(int32_t device, uint64_t ordinal, Captures& captures) {
  const auto after = looks_.upper_bound(ordinal);
  if (after == looks_.begin()) return;
  const auto& [at, text] = *std::prev(after);
  captures.At(at, [this, device, text = text, &captures] {
    std::vector<Found>& found = found_[device];
    for (UnreadName& name : ParseUnreadNames(source_.String(text))) {
      Found& held = found.emplace_back(Found{.name = std::move(name), .blocks = {}});
      for (const auto& [card, address] : held.name.storages) {
        const auto id = card == device ? captures.live().At(card, address) : std::nullopt;
        if (id) held.blocks.emplace_back(*id, captures.live().block(*id).sequence);
      }
    }
  });
}

std::vector<UnreadValue> UnreadNames::Values(int32_t device, const ValueQuestion& question) const {
  std::vector<UnreadValue> values;
  const auto looked = found_.find(device);
  if (looked == found_.end()) return values;
  absl::flat_hash_set<BlockId> in_use;
  for (const CapturedBlock& entry : question.captured)
    if (!entry.waiting) in_use.insert(entry.id);
  for (const Found& found : looked->second) {
    Valuation valuation(found.name, question);
    for (const auto& [id, sequence] : found.blocks) {
      if (in_use.contains(id) && question.live.block(id).sequence == sequence)
        valuation.Add(question.live.block(id));
    }
    if (auto value = valuation.Finish()) values.push_back(*std::move(value));
  }
  std::stable_sort(values.begin(), values.end(),
                   [](const UnreadValue& a, const UnreadValue& b) { return a.bytes > b.bytes; });
  return values;
}

}  // namespace memtrace::analysis
