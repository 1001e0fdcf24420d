// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/page/html_document.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "messages/message.h"
#include "tools/report/words/glossary.h"
#include "tools/report/words/printable.h"

namespace memtrace::report {
namespace {

using Kind = TableColumn::Kind;

// The most columns of a text: names from a trace may have a megabyte.
constexpr size_t kMostColumns = 4000;
constexpr size_t kMostOfCell = 160;
constexpr int kBarWidth = 160;  // viewBox units for the whole card

std::string Text(std::string_view text) { return HtmlEscaped(Shortened(text, kMostColumns)); }

std::string Element(const std::string& name, const std::string& content) {
  return "<" + name + ">" + content + "</" + name.substr(0, name.find(' ')) + ">";
}

// Returns a drawing, because a style would need a permission. The cells beside it have the words.
std::string BarOf(double share) {
  const auto width = std::lround(std::clamp(share, 0.0, 1.0) * kBarWidth * 100);
  return "<svg class=\"bar\" viewBox=\"0 0 " + std::to_string(kBarWidth * 100) +
         " 1000\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"" +
         std::to_string(width) + "\" height=\"1000\"/></svg>";
}

std::string CellText(const std::string& text, Kind kind) {
  return HtmlEscaped(kind == Kind::kPath ? ShortenedFront(text, kMostOfCell)
                                         : Shortened(text, kMostOfCell));
}

// Adds what the glossary says to a text that is one of its terms.
std::string Explained(const std::string& text, const std::string& html) {
  const std::optional<Term> term = TermNamed(text);
  if (!term) return html;
  return "<abbr title=\"" + HtmlEscaped(MessageOf(term->meaning)) + "\">" + html + "</abbr>";
}

class TableHtml {
 public:
  explicit TableHtml(const Table& table) : table_(table) {
    for (const TableRow& row : table.rows) {
      has_bars_ = has_bars_ || row.share.has_value();
      has_remarks_ = has_remarks_ || !row.remarks.empty();
    }
  }

  // `title` names the table for readers who cannot see the heading above it.
  std::string Run(const std::string& title) const {
    std::string html = "<table>";
    html += table_.title.empty() ? "<caption class=\"unseen\">" + Text(title) + "</caption>"
                                 : "<caption>" + Text(table_.title) + "</caption>";
    html += Head() + "<tbody>";
    for (const TableRow& row : table_.rows) html += Row(row);
    html += "</tbody>" + Foot() + "</table>";
    return Scrolling(table_.title.empty() ? title : table_.title, html) + "\n";
  }

 private:
  size_t columns() const {
    return table_.columns.size() + (has_bars_ ? 1 : 0) + (has_remarks_ ? 1 : 0);
  }

  static std::string Open(std::string_view name, Kind kind) {
    return "<" + std::string(name) + (kind == Kind::kFigure ? " class=\"figure\">" : ">");
  }

  std::string Head() const {
    std::string head = "<thead><tr>";
    for (const TableColumn& column : table_.columns) {
      head += column.title.empty() ? "<td></td>"
                                   : Open("th scope=\"col\"", column.kind) +
                                         Explained(column.title, Text(column.title)) + "</th>";
    }
    for (size_t i = table_.columns.size(); i < columns(); ++i) head += "<td></td>";
    return head + "</tr></thead>";
  }

  std::string Row(const TableRow& row) const {
    std::string html = row.depth > 0 ? "<tr class=\"part\">" : "<tr>";
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const Kind kind = table_.columns[i].kind;
      const std::string text =
          i < row.cells.size() ? Explained(row.cells[i], CellText(row.cells[i], kind)) : "";
      const bool names_row = i == 0 && !text.empty();
      html += names_row ? "<th scope=\"row\">" + text + "</th>" : Open("td", kind) + text + "</td>";
    }
    if (has_bars_) html += "<td>" + (row.share ? BarOf(*row.share) : "") + "</td>";
    if (has_remarks_) {
      std::string remarks;
      for (const std::string& remark : row.remarks)
        remarks += (remarks.empty() ? "" : " · ") + Text(remark);
      html += "<td class=\"remark\">" + remarks + "</td>";
    }
    html += "</tr>";
    if (row.below.empty()) return html;
    html += "<tr class=\"below\"><td colspan=\"" + std::to_string(columns()) + "\">";
    for (const std::string& sentence : row.below) html += Element("p", Text(sentence));
    return html + "</td></tr>";
  }

  std::string Foot() const {
    if (table_.total.empty() && table_.rest.empty()) return "";
    std::string foot = "<tfoot>";
    if (!table_.total.empty()) {
      foot += "<tr class=\"total\">";
      for (size_t i = 0; i < table_.columns.size(); ++i) {
        foot += Open("td", table_.columns[i].kind) +
                (i < table_.total.size() ? Text(table_.total[i]) : "") + "</td>";
      }
      foot += "</tr>";
    }
    if (!table_.rest.empty())
      foot += "<tr class=\"rest\"><td colspan=\"" + std::to_string(columns()) + "\">… " +
              Text(table_.rest) + "</td></tr>";
    return foot + "</tfoot>";
  }

  const Table& table_;
  bool has_bars_ = false;
  bool has_remarks_ = false;
};

class SectionHtml {
 public:
  explicit SectionHtml(const Section& section) : section_(section) {}

  std::string Run() {
    std::string html = "<section id=\"" + HtmlEscaped(section_.id) + "\"";
    html += section_.title.empty() ? ">\n" : " aria-labelledby=\"" + heading() + "\">\n";
    if (!section_.title.empty()) {
      html += "<h2 id=\"" + heading() + "\">" + Text(section_.title);
      if (!section_.subtitle.empty()) html += " <small>" + Text(section_.subtitle) + "</small>";
      html += "</h2>\n";
    }
    if (!section_.meaning.empty())
      html += "<p class=\"meaning\">" + Text(section_.meaning) + "</p>\n";
    for (const Part& part : section_.parts)
      html += std::visit([this](const auto& of) { return this->Html(of); }, part);
    return html + "</section>\n";
  }

 private:
  std::string heading() const { return "h-" + HtmlEscaped(section_.id); }

  static std::string Html(const Paragraph& paragraph) {
    return (paragraph.depth > 0 ? "<p class=\"part\">" : "<p>") + Text(paragraph.text) + "</p>\n";
  }
  static std::string Html(const Clauses& clauses) {
    std::string text;
    for (const std::string& clause : clauses.clauses)
      if (!clause.empty()) text += (text.empty() ? "" : " · ") + Text(clause);
    return Element("p", text) + "\n";
  }
  static std::string Html(const Facts& facts) {
    std::string html = "<dl>";
    const std::string* before = nullptr;
    for (const Fact& fact : facts.rows) {
      if (before == nullptr || *before != fact.label)
        html += Element("dt", Explained(fact.label, Text(fact.label)));
      before = &fact.label;
      html += fact.is_command
                  ? Element("dd", Element("code", Text(fact.text)))
                  : Element(fact.is_place ? "dd class=\"place\"" : "dd", Text(fact.text));
    }
    return html + "</dl>\n";
  }
  std::string Html(const Table& table) const { return TableHtml(table).Run(section_.title); }
  static std::string Html(const Note& note) {
    return "<p class=\"note\">" + Text(note.text) + "</p>\n";
  }

  const Section& section_;
};

}  // namespace

std::string HtmlEscaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string HtmlOf(const Document& document) {
  std::string html;
  for (const Section& section : document)
    if (!section.parts.empty()) html += SectionHtml(section).Run();
  return html;
}

std::string ContentsOf(const Document& document) {
  std::string links;
  for (const Section& section : document) {
    if (section.parts.empty() || section.title.empty()) continue;
    links +=
        "<li><a href=\"#" + HtmlEscaped(section.id) + "\">" + Text(section.title) + "</a></li>";
  }
  if (links.empty()) return "";
  return "<nav id=\"contents\" aria-label=\"" + Text(Message("Contents")) + "\"><ul>" + links +
         "</ul></nav>\n";
}

std::string Scrolling(std::string_view name, const std::string& content) {
  return "<div class=\"wide\" role=\"group\" tabindex=\"0\" aria-label=\"" + Text(name) + "\">" +
         content + "</div>";
}

std::string LegendOf(const std::vector<LegendEntry>& entries) {
  std::string html = "<ul class=\"legend\">";
  for (const LegendEntry& entry : entries) {
    html += "<li><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect class=\"k-" +
            HtmlEscaped(entry.name) + "\" width=\"1\" height=\"1\"/></svg> " +
            HtmlEscaped(entry.text) + "</li>";
  }
  return html + "</ul>";
}

}  // namespace memtrace::report
