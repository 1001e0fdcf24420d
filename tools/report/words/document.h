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

// What a report says, before it is known where it is read: the terminal (text_document.h) and the
// page (page/html_document.h) say the same words in the same order. Texts are Printable(). Members
// with "= {}" may be left out where one is made.
namespace memtrace::report {

struct Paragraph {
  std::string text;
  size_t depth = 0;  // how deep it lies below the paragraph before
};

// Clauses that stand side by side where there is room.
struct Clauses {
  std::vector<std::string> clauses;  // empty ones are left out
};

// A label and what it says: "called by", a line. Neighbours with the same label have it once.
struct Fact {
  std::string label;
  std::string text;
  bool is_place = false;  // a line of code: cut rather than wrapped
};
struct Facts {
  std::vector<Fact> rows;
};

// A column of a Table.
struct TableColumn {
  // Figures stand right; paths lose their front.
  enum class Kind : uint8_t { kText, kFigure, kPath };

  std::string title;
  // Columns of a terminal; 0, in one column at most: what is left, if that is of any use.
  size_t width = 0;
  Kind kind = Kind::kText;
};

struct TableRow {
  std::vector<std::string> cells;         // as many as there are columns, or fewer
  size_t depth = 0;                       // how deep it lies below the row before
  std::optional<double> share = {};       // of the whole: a bar
  std::vector<std::string> remarks = {};  // behind the cells
  std::vector<std::string> below = {};    // sentences of the row
};

// The title of a section that begins with a table stands over the columns in front that have none.
struct Table {
  std::string title;  // of one that does not begin its section
  // Columns of a terminal: the title stands beside the first row, and titles of columns behind its
  // cells. 0: above them.
  size_t beside = 0;
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> total;  // cells of a last row, below a line; empty: none
  std::string rest;                // what is left out: "3 more, 1.5 MiB"; empty: nothing
};

// What figures rest on; stands in brackets.
struct Note {
  std::string text;
};

using Part = std::variant<Paragraph, Clauses, Facts, Table, Note>;

struct Section {
  std::string_view id;     // "holders": stable, for links
  std::string title = {};  // "WHO HOLDS IT"; empty: none
  std::string subtitle = {};
  std::vector<Part> parts = {};  // empty: there is nothing to say
};

using Document = std::vector<Section>;

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_WORDS_DOCUMENT_H_
