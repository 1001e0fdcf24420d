// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/picture/png_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "profiler/trace/events/printable_text.h"
#include "tools/report/picture/typeface.h"
#include "tools/report/words/printable.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include "stb_image_write.h"

namespace memtrace::report {
namespace {

constexpr int kScale = 2;     // pixels of the file for one of the drawing
constexpr int kChannels = 3;  // red, green, blue

class Raster {
 public:
  explicit Raster(const Drawing& drawing)
      : width_(static_cast<int>(std::ceil(drawing.width * kScale))),
        height_(static_cast<int>(std::ceil(drawing.height * kScale))),
        pixels_(static_cast<size_t>(width_) * static_cast<size_t>(height_) * kChannels) {
    Fill({0, 0, drawing.width, drawing.height, drawing.ground});
  }

  void Fill(const Rectangle& shape) {
    const int right = Pixel(shape.x + shape.width);
    const int bottom = Pixel(shape.y + shape.height);
    for (int y = Pixel(shape.y); y < bottom; ++y)
      for (int x = Pixel(shape.x); x < right; ++x) Blend(x, y, shape.colour, 255);
  }

  void Fill(const Rectangles& shape) {
    for (const auto& [x, y, width, height] : shape.places)
      Fill({x, y, width, height, shape.colour});
  }

  // Puts a glyph at the pen.
  void Put(const Glyph& glyph, double x, double baseline, Colour colour) {
    const int left = Pixel(x) + glyph.left;
    const int top = Pixel(baseline) + glyph.top;
    auto coverage = glyph.coverage.begin();
    for (int row = 0; row < glyph.height; ++row)
      for (int column = 0; column < glyph.width; ++column)
        Blend(left + column, top + row, colour, *coverage++);
  }

  std::string File() const {
    std::string file;
    stbi_write_png_to_func(Append, &file, width_, height_, kChannels, pixels_.data(),
                           width_ * kChannels);
    return file;
  }

 private:
  // Called by the library with each part of the file.
  static void Append(void* file, void* data, int size) {
    static_cast<std::string*>(file)->append(static_cast<const char*>(data),
                                            static_cast<size_t>(size));
  }
  static int Pixel(double length) { return static_cast<int>(std::lround(length * kScale)); }

  void Blend(int x, int y, Colour colour, int coverage) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    const size_t at =
        (static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)) * kChannels;
    const uint8_t parts[kChannels] = {colour.red, colour.green, colour.blue};
    for (size_t i = 0; i < kChannels; ++i)
      pixels_[at + i] =
          static_cast<uint8_t>((pixels_[at + i] * (255 - coverage) + parts[i] * coverage) / 255);
  }

  int width_;
  int height_;
  std::vector<uint8_t> pixels_;
};

// Draws texts with the program's own font, or with one of the system.
class Writer {
 public:
  explicit Writer(Raster& raster) : raster_(raster), own_(Typeface::Of(kMonospacedFont)) {}

  // Returns false if no font has one of the characters.
  bool Write(const Label& label) {
    const double column = kColumnWidth * label.height / kTextHeight;
    double x = label.x;
    for (size_t at = 0; at < label.text.size();) {
      const auto point = trace::DecodeUtf8(label.text, at);
      const size_t bytes = point ? point->bytes : 1;
      const uint32_t character = point ? static_cast<uint32_t>(point->value) : '?';
      const Typeface* typeface = TypefaceWith(character);
      if (typeface == nullptr) return false;
      raster_.Put(typeface->Draw(character, label.height * kScale), x, label.baseline,
                  label.colour);
      x += column * static_cast<double>(Width(std::string_view(label.text).substr(at, bytes)));
      at += bytes;
    }
    return true;
  }

 private:
  const Typeface* TypefaceWith(uint32_t character) {
    if (own_ != nullptr && own_->has(character)) return own_.get();
    if (system_ == nullptr || !system_->has(character)) system_ = SystemTypefaceWith(character);
    return system_.get();
  }

  Raster& raster_;
  std::unique_ptr<Typeface> own_;
  std::unique_ptr<Typeface> system_;
};

}  // namespace

absl::StatusOr<std::string> PngFile(const Drawing& drawing) {
  Raster raster(drawing);
  Writer writer(raster);
  for (const auto& shape : drawing.shapes) {
    if (const auto* rectangle = std::get_if<Rectangle>(&shape)) {
      raster.Fill(*rectangle);
    } else if (const auto* rectangles = std::get_if<Rectangles>(&shape)) {
      raster.Fill(*rectangles);
    } else if (!writer.Write(std::get<Label>(shape))) {
      return absl::UnavailableError(
          Message("This system has no font for some characters of the picture; write an .svg "
                  "file, or choose --lang en."));
    }
  }
  return raster.File();
}

}  // namespace memtrace::report
