// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_WORDS_DOCUMENT_H_
#define MEMTRACE_TOOLS_REPORT_WORDS_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The contents of a report, independent of where it is read: the terminal (text_document.h) and the
// page (page/html_document.h) print the same words in the same order. Texts are Printable().
// Members with "= {}" may be left out in initializers.
namespace memtrace::report {

struct Paragraph {
  std::string text;
  size_t depth = 0;  // levels of indentation below the paragraph before
};

// Clauses that are printed side by side if there is room.
struct Clauses {
  std::vector<std::string> clauses;  // empty ones are left out
};

// A label and its text: "called by", a line. Neighbours with the same label print it once.
struct Fact {
  std::string label;
  std::string text;
  bool is_place = false;    // a line of code: cut rather than wrapped
  bool is_command = false;  // to be pasted: neither cut nor wrapped
};
struct Facts {
  std::vector<Fact> rows;
};

// A column of a Table.
struct TableColumn {
  // Figures are aligned right; paths lose their front.
  enum class Kind : uint8_t { kText, kFigure, kPath };

  std::string title;
  // The width in terminal columns; 0, in one column at most, takes the rest if that is wide enough.
  size_t width = 0;
  Kind kind = Kind::kText;
};

struct TableRow {
  std::vector<std::string> cells;         // as many as there are columns, or fewer
  size_t depth = 0;                       // levels of indentation below the row before
  std::optional<double> share = {};       // part of the whole, drawn as a bar
  std::vector<std::string> remarks = {};  // printed after the cells
  std::vector<std::string> below = {};    // sentences below the row
};

// The title of a section that begins with a table is printed above its first columns without
// titles.
struct Table {
  std::string title;  // the title of a table that does not begin its section
  // The terminal columns of a title beside the first row; column titles then follow its cells. 0
  // puts the titles above the rows.
  size_t beside = 0;
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> total;  // cells of a last row, below a line; empty: none
  std::string rest;                // the rows left out: "3 more, 1.5 MiB"; empty: none
};

// The basis of figures, printed in brackets.
struct Note {
  std::string text;
};

using Part = std::variant<Paragraph, Clauses, Facts, Table, Note>;

struct Section {
  std::string_view id;     // "holders": stable, for links
  std::string title = {};  // "WHO HOLDS THE MEMORY"; empty: none
  std::string subtitle = {};
  std::string meaning = {};      // one sentence for those who see such a section the first time
  std::vector<Part> parts = {};  // empty: there is nothing to say
};

using Document = std::vector<Section>;

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_DOCUMENT_H_
