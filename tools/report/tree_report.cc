// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/tree_report.h"

#include <algorithm>
#include <map>
#include <memory>

#include "messages/message.h"
#include "nlohmann/json.hpp"
#include "tools/report/run_header.h"
#include "tools/report/verdict/position_words.h"
#include "tools/report/words/json_text.h"
#include "tools/report/words/known_bytes.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/text_document.h"

namespace memtrace::report {
namespace {

using analysis::AttributedBytes;
using analysis::Explanation;
using nlohmann::ordered_json;

struct Node {
  std::string name;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  analysis::KnownBytes known;
  uint64_t oldest = ~uint64_t{0};
  std::map<std::string, size_t> places;  // places of the children
  std::vector<std::unique_ptr<Node>> children;

  void Add(const AttributedBytes& row) {
    bytes += row.bytes;
    blocks += row.blocks;
    known.Add(row.evidence, row.bytes);
    oldest = std::min(oldest, row.step);
  }
  Node& Child(const std::string& child) {
    const auto [place, is_new] = places.try_emplace(child, children.size());
    if (is_new) {
      children.push_back(std::make_unique<Node>());
      children.back()->name = child;
    }
    return *children[place->second];
  }
  void Sort() {
    std::stable_sort(children.begin(), children.end(), [](const auto& a, const auto& b) {
      return std::tie(b->bytes, a->name) < std::tie(a->bytes, b->name);
    });
    for (const auto& child : children) child->Sort();
  }
};

Node TreeOf(const Explanation& explanation, const TreeStyle& style, ValueOfLevel value_of) {
  Node root;
  for (const AttributedBytes& row : explanation.holders.attributed) {
    Node* node = &root;
    node->Add(row);
    std::string joined;
    for (const TreeLevel level : style.levels) {
      const std::string value = value_of(row, level);
      if (style.flat) {
        joined += (joined.empty() ? "" : " · ") + value;
        continue;
      }
      node = &node->Child(value);
      node->Add(row);
    }
    if (style.flat) root.Child(joined).Add(row);
  }
  root.Sort();
  return root;
}

class TreeText {
 public:
  TreeText(const Node& root, uint64_t step, size_t rows)
      : unit_(UnitFor(root.bytes)), total_(root.bytes), step_(step), left_(rows) {
    if (rows == 0) left_ = ~size_t{0};
  }

  std::string Head(std::string_view title) const {
    return LeftAligned(title, NameColumns()) + RightAligned(unit_.name, 9) + RightAligned("%", 5) +
           RightAligned(Message("blocks"), 9) + "  " + Message("oldest") + "\n";
  }
  // Shows the largest rows that fit, so that no small row is shown while a large one is left out.
  std::string Lines(const Node& root) {
    std::string lines;
    least_ = LargestHiddenBytes(root);
    Add(root, 0, lines);
    if (folded_ > 0) {
      lines += "  … " +
               CountedMessage(folded_, "1 smaller row is left out; --rows 0 prints all",
                              "$0 smaller rows are left out; --rows 0 prints all",
                              FormatCount(folded_)) +
               "\n";
    }
    return lines;
  }

 private:
  static size_t NameColumns() { return Columns() - 38; }

  // Returns the bytes of the largest row that no longer fits; 0 if all fit.
  uint64_t LargestHiddenBytes(const Node& root) const {
    std::vector<uint64_t> sizes;
    Collect(root, sizes);
    if (sizes.size() <= left_) return 0;
    std::sort(sizes.rbegin(), sizes.rend());
    return sizes[left_];
  }
  static void Collect(const Node& node, std::vector<uint64_t>& sizes) {
    for (const auto& child : node.children) {
      sizes.push_back(child->bytes);
      Collect(*child, sizes);
    }
  }

  void Add(const Node& node, size_t depth, std::string& lines) {
    for (const auto& child : node.children) {
      if (child->bytes <= least_ && least_ > 0) {
        folded_ += 1 + Rows(*child);
        continue;
      }
      lines += Line(*child, depth);
      Add(*child, depth + 1, lines);
    }
  }
  static size_t Rows(const Node& node) {
    size_t rows = node.children.size();
    for (const auto& child : node.children) rows += Rows(*child);
    return rows;
  }

  std::string Line(const Node& node, size_t depth) const {
    std::string name = std::string(2 + 2 * depth, ' ') + Printable(node.name);
    if (const std::string marks = EvidenceMarks(node.known); !marks.empty()) name += " " + marks;
    const uint64_t percent = total_ == 0 ? 0 : node.bytes * 100 / total_;
    return LeftAligned(name, NameColumns()) + RightAligned(FormatFigure(node.bytes, unit_), 9) +
           RightAligned(std::to_string(percent), 5) + RightAligned(FormatCount(node.blocks), 9) +
           "  " + Age(node.oldest) + "\n";
  }
  std::string Age(uint64_t born) const {
    if (born == 0) return Message("start");
    if (born >= step_) return Message("this step");
    return CountedMessage(step_ - born, "1 step", "$0 steps", FormatCount(step_ - born));
  }

  TableUnit unit_;
  uint64_t total_;
  uint64_t step_;
  size_t left_;
  uint64_t least_ = 0;
  size_t folded_ = 0;
};

ordered_json NodeJson(const Node& node, uint64_t step) {
  ordered_json json = {{"name", node.name}, {"bytes", node.bytes}, {"blocks", node.blocks}};
  AddKnownBytes(node.known, json);
  json["age_steps"] = node.oldest == 0 || node.oldest > step ? ordered_json(nullptr)
                                                             : ordered_json(step - node.oldest);
  if (node.children.empty()) return json;
  ordered_json children = ordered_json::array();
  for (const auto& child : node.children) children.push_back(NodeJson(*child, step));
  json["children"] = std::move(children);
  return json;
}

std::string Legend(const Explanation& explanation) {
  analysis::KnownBytes known;
  for (const AttributedBytes& row : explanation.holders.attributed)
    known.Add(row.evidence, row.bytes);
  if (known.guessed > 0)
    return Message("(~ the role of some of these bytes is guessed from stacks)") + "\n";
  if (known.inferred > 0)
    return Message("(* the role of some of these bytes is inferred, not stated by a hook)") + "\n";
  return "";
}

std::string Heading(const Explanation& explanation, const Node& root) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  return CountedMessage(root.blocks, "CARD $0 at $1, $2: $3 requested in 1 block",
                        "CARD $0 at $1, $2: $3 requested in $4 blocks", card.index,
                        MomentName(explanation.asked, explanation.failure),
                        DescribePosition(card.when.at), FormatBytes(root.bytes),
                        FormatCount(root.blocks));
}

}  // namespace

std::string LevelsTitle(const std::vector<TreeLevel>& levels) {
  std::string names;
  for (const TreeLevel level : levels)
    names += (names.empty() ? "" : ", ") + std::string(LevelName(level));
  return Message("by $0", names);
}

std::string TextTree(const Explanation& explanation, const analysis::RunFacts& run,
                     const TreeStyle& style) {
  const Node root = TreeOf(explanation, style, LevelWords);
  std::string text =
      TextOf(RunSections(explanation.run, run)) + "\n" + Wrapped(Heading(explanation, root), 2);
  if (root.children.empty()) return text;
  TreeText tree(root, explanation.card_of_verdict().when.at.step, style.rows);
  return text + "\n" + tree.Head(LevelsTitle(style.levels)) + tree.Lines(root) +
         Legend(explanation);
}

std::string JsonTree(const Explanation& explanation, const analysis::RunFacts& run,
                     const TreeStyle& style) {
  const analysis::CardExplanation& card = explanation.card_of_verdict();
  ordered_json levels = ordered_json::array();
  for (const TreeLevel level : style.levels) levels.push_back(std::string(LevelName(level)));
  const ordered_json root = NodeJson(TreeOf(explanation, style, LevelValue), card.when.at.step);
  ordered_json json;
  json["schema"] = "memtrace.tree/1";
  json["file"] = run.file;
  json["card"] = card.index;
  json["moment"] = MomentName(explanation.asked, explanation.failure);
  json["event"] = card.when.ordinal;
  json["levels"] = levels;
  json["flat"] = style.flat;
  json["bytes"] = root["bytes"];
  json["blocks"] = root["blocks"];
  json["tree"] = root.contains("children") ? root["children"] : ordered_json::array();
  return JsonText(json);
}

}  // namespace memtrace::report
