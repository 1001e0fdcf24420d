// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_PICTURE_TYPEFACE_H_
#define MEMTRACE_TOOLS_REPORT_PICTURE_TYPEFACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::report {

// The shape of a character: how much of each pixel it covers, 0 to 255, row by row.
struct Glyph {
  int width = 0;
  int height = 0;
  int left = 0;  // of the first column, from the pen
  int top = 0;   // of the first row, from the baseline; negative is above it
  std::vector<uint8_t> coverage;
};

// A font file. Not thread-safe.
class Typeface {
 public:
  // Returns null if the bytes are not a font. `bytes` must outlive it.
  static std::unique_ptr<Typeface> Of(std::string_view bytes);
  // Returns the font of a file, or null. It keeps the file's bytes.
  static std::unique_ptr<Typeface> OfFile(const std::string& path);
  ~Typeface();

  bool has(uint32_t character) const;
  // Draws a character at a height of `pixels`.
  Glyph Draw(uint32_t character, double pixels) const;

 private:
  struct Font;
  explicit Typeface(std::unique_ptr<Font> font);

  std::unique_ptr<Font> font_;
};

// DejaVu Sans Mono, which the program carries (make_font.py).
extern const std::string_view kMonospacedFont;

// Returns a font of the system that has the character, or null. Looks where Linux distributions put
// fonts for Chinese.
std::unique_ptr<Typeface> SystemTypefaceWith(uint32_t character);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_PICTURE_TYPEFACE_H_
