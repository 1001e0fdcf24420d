// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/text_document.h"

#include <algorithm>

#include "tools/report/words/printable.h"

namespace memtrace::report {
namespace {

using Kind = TableColumn::Kind;

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;          // between a figure and the text after it
constexpr size_t kLeastWidth = 12;  // the least width of a column that takes the rest

std::string Blanks(size_t count) { return std::string(count, ' '); }

// Columns of a full bar; fewer on a narrow terminal, to leave room for a remark.
double BarColumns() { return Columns() < kColumns ? 18 : 32; }

class TableText {
 public:
  explicit TableText(const Table& table) : table_(table) {
    for (const TableColumn& column : table.columns) widths_.push_back(column.width);
    const auto open = std::find(widths_.begin(), widths_.end(), size_t{0});
    if (open == widths_.end()) return;
    size_t used = indent();
    for (size_t i = 0; i < widths_.size(); ++i) used += widths_[i] + GapBefore(i);
    *open = Columns() - std::min(used, Columns());
    if (*open < kLeastWidth) *open = 0;
  }

  // Prints `title` above the first columns, which have no title of their own.
  std::string Head(const std::string& title) const {
    size_t first = 0;
    size_t width = kIndent;
    while (first < table_.columns.size() && table_.columns[first].title.empty())
      width += widths_[first++];
    std::string head = first == 0 ? Blanks(kIndent) : LeftAligned(title, width);
    for (size_t i = first; i < table_.columns.size(); ++i)
      head += Blanks(i == 0 ? 0 : GapBefore(i)) + Cell(i, table_.columns[i].title, 0, true);
    return Ended(head);
  }
  // True if there is a line above the rows.
  bool has_head() const {
    return table_.beside == 0 &&
           std::any_of(table_.columns.begin(), table_.columns.end(),
                       [](const TableColumn& column) { return !column.title.empty(); });
  }

  std::string Lines() const {
    std::string lines;
    for (const TableRow& row : table_.rows) lines += Line(row, table_.beside > 0 && lines.empty());
    if (!table_.total.empty()) lines += Total();
    if (!table_.rest.empty()) lines += Blanks(indent()) + RestIndent() + "… " + table_.rest + "\n";
    return lines;
  }

 private:
  size_t indent() const { return kIndent + table_.beside; }
  size_t GapBefore(size_t column) const {
    if (column == 0 || table_.columns[column].kind == Kind::kFigure) return 0;
    return table_.columns[column - 1].kind == Kind::kFigure ? kGap : 0;
  }

  std::string Cell(size_t column, const std::string& text, size_t depth, bool is_head) const {
    const TableColumn& of = table_.columns[column];
    const size_t width = widths_[column];
    if (width == 0) return "";
    if (of.kind == Kind::kFigure) return RightAligned(text, width);
    const size_t indent = std::min(2 * depth, width);
    const std::string cut =
        of.kind == Kind::kPath && !is_head ? ShortenedFront(text, width - indent) : text;
    return Blanks(indent) + LeftAligned(cut, width - indent);
  }

  std::string Line(const TableRow& row, bool with_titles) const {
    std::string line =
        with_titles ? LeftAligned(Blanks(kIndent) + table_.title, indent()) : Blanks(indent());
    for (size_t i = 0; i < row.cells.size(); ++i) {
      line += Blanks(GapBefore(i)) + Cell(i, row.cells[i], i == 0 ? row.depth : 0, false);
      if (with_titles && !table_.columns[i].title.empty()) line += " " + table_.columns[i].title;
    }
    if (row.share) {
      const std::string bar = Bar(std::clamp(*row.share, 0.0, 1.0) * BarColumns());
      if (!bar.empty()) line += Blanks(kGap) + bar;
    }
    for (const std::string& remark : row.remarks) line += Blanks(kGap) + remark;
    line = Ended(line);
    for (const std::string& sentence : row.below) line += Wrapped(Blanks(4) + sentence, 4);
    return line;
  }

  std::string Total() const {
    std::string line = Blanks(kIndent);
    for (size_t i = 0; i < table_.total.size(); ++i)
      line += Blanks(GapBefore(i)) + Cell(i, table_.total[i], 0, false);
    std::string rule;
    for (size_t i = 0; i < 6; ++i) rule += "─";
    return RightAligned(rule, Width(line)) + "\n" + line + "\n";
  }

  // Returns the indentation of the rest, which is that of the last row.
  std::string RestIndent() const {
    return Blanks(table_.rows.empty() ? 0 : 2 * table_.rows.back().depth);
  }

  static std::string Ended(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  }

  const Table& table_;
  std::vector<size_t> widths_;
};

class SectionText {
 public:
  explicit SectionText(const Section& section) : section_(section) {}

  std::string Run() {
    const std::string title =
        section_.title + (section_.subtitle.empty() ? "" : "  " + section_.subtitle);
    const auto* first = std::get_if<Table>(&section_.parts.front());
    const bool stands_over_table =
        first != nullptr && TableText(*first).has_head() && section_.meaning.empty();
    std::string text;
    if (stands_over_table) {
      text = TableText(*first).Head(title) + TableText(*first).Lines();
    } else if (!title.empty()) {
      text = Wrapped(title, kIndent);
    }
    if (!section_.meaning.empty()) text += Wrapped(Blanks(kIndent) + section_.meaning, kIndent);
    for (size_t i = stands_over_table ? 1 : 0; i < section_.parts.size(); ++i)
      text += std::visit([this](const auto& part) { return this->Text(part); }, section_.parts[i]);
    return text;
  }

 private:
  std::string Text(const Paragraph& paragraph) const {
    if (section_.title.empty()) return Wrapped(paragraph.text, 0);
    const size_t indent = kIndent + 2 * paragraph.depth;
    return Wrapped(Blanks(indent) + paragraph.text, indent + 2);
  }
  static std::string Text(const Clauses& clauses) { return JoinedByDots(clauses.clauses); }
  static std::string Text(const Facts& facts) {
    size_t width = 0;
    for (const Fact& fact : facts.rows) width = std::max(width, Width(fact.label) + 2);
    std::string lines;
    const std::string* before = nullptr;
    for (const Fact& fact : facts.rows) {
      const bool is_told = before != nullptr && *before == fact.label;
      const std::string start =
          Blanks(kIndent) + LeftAligned(is_told ? "" : std::string_view(fact.label), width);
      before = &fact.label;
      if (fact.is_command) {
        lines += start + fact.text + "\n";
      } else {
        lines += fact.is_place ? start + Shortened(fact.text, Columns() - width - kIndent) + "\n"
                               : Wrapped(start + fact.text, width + kIndent);
      }
    }
    return lines;
  }
  static std::string Text(const Table& table) {
    const TableText text(table);
    return (text.has_head() ? text.Head(Blanks(kIndent) + table.title) : "") + text.Lines();
  }
  static std::string Text(const Note& note) { return Wrapped("  (" + note.text + ")", 3); }

  const Section& section_;
};

}  // namespace

std::string TextOf(const Document& document) {
  std::string text;
  for (const Section& section : document) {
    if (section.parts.empty()) continue;
    text += (text.empty() ? "" : "\n") + SectionText(section).Run();
  }
  return text;
}

}  // namespace memtrace::report
