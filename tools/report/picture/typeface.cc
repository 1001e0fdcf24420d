// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/picture/typeface.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include "stb_truetype.h"

namespace memtrace::report {
namespace {

namespace fs = std::filesystem;

// Folders and the names of fonts that have Chinese, in the order of preference.
constexpr std::array kFontFolders = {"/usr/share/fonts", "/usr/local/share/fonts"};
constexpr std::array<std::string_view, 6> kChineseFonts = {"NotoSansMonoCJK", "NotoSansCJK",
                                                           "SourceHanSans",   "wqy-microhei",
                                                           "wqy-zenhei",      "DroidSansFallback"};

std::vector<std::string> FilesOf(std::string_view name) {
  std::vector<std::string> files;
  for (const char* folder : kFontFolders) {
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (auto entry = fs::recursive_directory_iterator(folder, options, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (entry->path().filename().string().starts_with(name)) files.push_back(entry->path());
    }
  }
  return files;
}

}  // namespace

struct Typeface::Font {
  std::string file;  // of OfFile(); else empty
  stbtt_fontinfo info{};

  bool Open(std::string_view bytes) {
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const int offset = stbtt_GetFontOffsetForIndex(data, 0);
    return offset >= 0 && stbtt_InitFont(&info, data, offset) != 0;
  }
};

Typeface::Typeface(std::unique_ptr<Font> font) : font_(std::move(font)) {}
Typeface::~Typeface() = default;

std::unique_ptr<Typeface> Typeface::Of(std::string_view bytes) {
  auto font = std::make_unique<Font>();
  if (!font->Open(bytes)) return nullptr;
  return std::unique_ptr<Typeface>(new Typeface(std::move(font)));
}

std::unique_ptr<Typeface> Typeface::OfFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  auto font = std::make_unique<Font>();
  font->file = {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (font->file.empty() || !font->Open(font->file)) return nullptr;
  return std::unique_ptr<Typeface>(new Typeface(std::move(font)));
}

bool Typeface::has(uint32_t character) const {
  return stbtt_FindGlyphIndex(&font_->info, static_cast<int>(character)) != 0;
}

Glyph Typeface::Draw(uint32_t character, double pixels) const {
  const float scale = stbtt_ScaleForMappingEmToPixels(&font_->info, static_cast<float>(pixels));
  Glyph glyph;
  unsigned char* drawn =
      stbtt_GetCodepointBitmap(&font_->info, scale, scale, static_cast<int>(character),
                               &glyph.width, &glyph.height, &glyph.left, &glyph.top);
  if (drawn == nullptr) return {};
  glyph.coverage.assign(drawn, drawn + static_cast<ptrdiff_t>(glyph.width) * glyph.height);
  stbtt_FreeBitmap(drawn, nullptr);
  return glyph;
}

std::unique_ptr<Typeface> SystemTypefaceWith(uint32_t character) {
  for (const std::string_view name : kChineseFonts) {
    for (const std::string& file : FilesOf(name)) {
      auto typeface = Typeface::OfFile(file);
      if (typeface != nullptr && typeface->has(character)) return typeface;
    }
  }
  return nullptr;
}

}  // namespace memtrace::report
