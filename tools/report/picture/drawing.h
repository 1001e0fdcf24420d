// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PICTURE_DRAWING_H_
#define MEMTRACE_TOOLS_REPORT_PICTURE_DRAWING_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

// A picture as a list of shapes, independent of the kind of file (svg_file.h, png_file.h).
namespace memtrace::report {

struct Colour {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
};

// Lengths are pixels, from the upper left corner.
struct Rectangle {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  Colour colour;
};

// Text in a font of fixed width: each column of text (Width() in words/printable.h) takes
// kColumnWidth at kTextHeight, and as much less at a smaller height.
struct Label {
  double x = 0;
  double baseline = 0;
  std::string text;
  double height = 0;
  Colour colour;
};

inline constexpr double kTextHeight = 14;
inline constexpr double kColumnWidth = kTextHeight * 0.602;  // of DejaVu Sans Mono

struct Drawing {
  double width = 0;
  double height = 0;
  Colour ground;
  std::vector<std::variant<Rectangle, Label>> shapes;  // later ones cover earlier ones
};

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PICTURE_DRAWING_H_
