// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Pictures of the first screen, as the real program writes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>

#include "tests/tools/shell.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#include "stb_image.h"

namespace memtrace {
namespace {

using testing::HasSubstr;

const std::filesystem::path kSource = MEMTRACE_SOURCE;

class PictureTest : public testing::Test {
 protected:
  void SetUp() override {
    shell_.WriteTrace("run.trace", ReadFile(kSource / "tests/golden/foreach_copy.trace.txt"));
  }
  // Writes a picture and returns the file's bytes.
  std::string Picture(const std::string& name, const std::string& options = "") {
    const Outcome outcome = shell_.Run("memtrace report -o " + name + " " + options + " run.trace");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("wrote " + name));
    return ReadFile(shell_.Path(name));
  }

  Shell shell_;
};

struct Pixels {
  int width = 0;
  int height = 0;
  std::unique_ptr<stbi_uc, void (*)(void*)> data;

  uint32_t At(int x, int y) const {
    const stbi_uc* pixel = data.get() + 3 * (static_cast<ptrdiff_t>(y) * width + x);
    return static_cast<uint32_t>(pixel[0] << 16 | pixel[1] << 8 | pixel[2]);
  }
  // Returns how many pixels have the colour.
  int Count(uint32_t colour) const {
    int count = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) count += At(x, y) == colour ? 1 : 0;
    return count;
  }
};

Pixels Decoded(const std::string& png) {
  int width = 0;
  int height = 0;
  int channels = 0;
  stbi_uc* data =
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()),
                            static_cast<int>(png.size()), &width, &height, &channels, 3);
  return {width, height, {data, stbi_image_free}};
}

TEST_F(PictureTest, SvgHasTheWordsOfTheFirstScreen) {
  const std::string svg = Picture("report.svg");
  EXPECT_THAT(svg, testing::StartsWith("<svg "));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  for (const char* words : {"OUT OF MEMORY", "WHO HOLDS CARD 0", "memtrace report --verbose"})
    EXPECT_THAT(svg, HasSubstr(words));
  EXPECT_EQ(svg.find("\xe2\x96\x88"), std::string::npos) << "a bar is drawn as text";
}

TEST_F(PictureTest, TextOfATraceCannotAddElements) {
  shell_.WriteTrace("run.trace", ReadFile(kSource / "tests/golden/hostile_text.trace.txt"));
  EXPECT_EQ(Picture("report.svg").find("<script"), std::string::npos);
}

TEST_F(PictureTest, PngShowsTextBarsAndTheChart) {
  const std::string png = Picture("report.png");
  const Pixels pixels = Decoded(png);
  ASSERT_NE(pixels.data, nullptr);
  EXPECT_GT(pixels.width, 1600);
  EXPECT_EQ(pixels.At(0, 0), 0xffffffU);
  EXPECT_GT(pixels.Count(0x1b1f24), 1000) << "text";
  EXPECT_GT(pixels.Count(0x0b57d0), 1000) << "bars";
  EXPECT_GT(pixels.Count(0x7d4cc2), 1000) << "optimizer states in the chart";
}

TEST_F(PictureTest, ColoursOfRolesAreThoseOfThePage) {
  const std::string css = ReadFile(kSource / "tools/report/page/page.css");
  const std::string picture = ReadFile(kSource / "tools/report/picture/report_picture.cc");
  const std::regex rule(R"(\.k-\w+ \{\s*fill: #(..)(..)(..);)");
  int found = 0;
  for (auto role = std::sregex_iterator(css.begin(), css.end(), rule);
       role != std::sregex_iterator(); ++role) {
    const std::string colour =
        "{0x" + (*role)[1].str() + ", 0x" + (*role)[2].str() + ", 0x" + (*role)[3].str() + "}";
    found += picture.find(colour) != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(found, 11);
}

TEST_F(PictureTest, ExistingFileIsKeptWithoutForce) {
  shell_.Write("report.png", "mine");
  EXPECT_EQ(shell_.Run("memtrace report -o report.png run.trace").code, 2);
  EXPECT_EQ(ReadFile(shell_.Path("report.png")), "mine");
}

}  // namespace
}  // namespace memtrace
