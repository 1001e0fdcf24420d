// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/picture/svg_file.h"

#include <cstdint>

#include "absl/strings/str_format.h"
#include "tools/report/page/html_document.h"
#include "tools/report/words/printable.h"

namespace memtrace::report {
namespace {

std::string NameOf(Colour colour) {
  return absl::StrFormat("#%02x%02x%02x", colour.red, colour.green, colour.blue);
}

std::string Element(const Rectangle& shape) {
  return absl::StrFormat(R"(<rect x="%.1f" y="%.1f" width="%.2f" height="%.1f" fill="%s"/>)",
                         shape.x, shape.y, shape.width, shape.height, NameOf(shape.colour));
}

std::string Element(const Label& label) {
  const double width =
      static_cast<double>(Width(label.text)) * kColumnWidth * label.height / kTextHeight;
  return absl::StrFormat(R"(<text x="%.1f" y="%.1f" font-size="%.0f" fill="%s" textLength="%.1f" )"
                         R"(lengthAdjust="spacingAndGlyphs" xml:space="preserve">%s</text>)",
                         label.x, label.baseline, label.height, NameOf(label.colour), width,
                         HtmlEscaped(label.text));
}

}  // namespace

std::string SvgFile(const Drawing& drawing) {
  std::string svg = absl::StrFormat(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" )"
      R"(font-family="'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono CJK SC', monospace">)",
      drawing.width, drawing.height, drawing.width, drawing.height);
  svg += "\n" + Element(Rectangle{0, 0, drawing.width, drawing.height, drawing.ground}) + "\n";
  for (const auto& shape : drawing.shapes)
    svg += std::visit([](const auto& each) { return Element(each); }, shape) + "\n";
  return svg + "</svg>\n";
}

}  // namespace memtrace::report
