// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/site_names.h"

#include <gtest/gtest.h>

#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

TEST(CollapsedPathTest, LayerNumbersBecomeStarsFollowedByAtMostOneName) {
  EXPECT_EQ(CollapsedPath("transformer.h.12.mlp.c_fc.weight", true), "transformer.h.*.mlp");
  EXPECT_EQ(CollapsedPath("transformer.h.12.mlp.c_fc", false), "transformer.h.*.mlp");
  EXPECT_EQ(CollapsedPath("blocks.3.experts.7.w1.weight", true), "blocks.*.experts.*.w1");
  EXPECT_EQ(CollapsedPath("lm_head.weight", true), "lm_head");
  EXPECT_EQ(CollapsedPath("lm_head.weight", false), "lm_head.weight");
  EXPECT_EQ(CollapsedPath("h.3.weight", true), "h.*");
  EXPECT_EQ(CollapsedPath("bias", true), "bias");
}

TEST(CollapsedPathTest, PartsOfASequentialAreDistinguished) {
  EXPECT_EQ(CollapsedPath("4", false), "[4]");
  EXPECT_EQ(CollapsedPath("4.weight", true), "[*]");
  EXPECT_EQ(CollapsedPath("23.0.weight", true), "[*][0]");
  EXPECT_EQ(CollapsedPath("23.1", false), "[*][1]");
  EXPECT_EQ(CollapsedPath("3.attention.q", false), "*.attention");
}

// A source that has lost all definitions.
class NoNames : public EventSource {
 public:
  void ForEach(const std::function<void(const trace::Event&)>& /*visit*/) const override {}
  std::string_view String(trace::StringId /*id*/) const override { return "(lost)"; }
  std::vector<trace::Frame> Stack(trace::StackId /*id*/) const override { return {}; }
};

TEST(SiteNamesTest, LostStackIsNamedByItsPhase) {
  constexpr trace::StackId kLost = 7;
  const NoNames source;
  SiteNames sites(source);
  const auto name = [&sites](trace::Phase phase) {
    return sites.Name(sites.Site(trace::Role::kUnknown, 0, 0, kLost, phase));
  };
  EXPECT_EQ(name(trace::Phase::kForward), "(in forward)");
  EXPECT_EQ(name(trace::Phase::kOther), "(no stack)");
  EXPECT_EQ(name(trace::Phase::kForward), "(in forward)");
}

// On an H200 the row was called "at::_ops::mm::redispatch" or "python3.12+0x18216e".
TEST(FramesTest, NvidiaLibraryIsNamedWithTheCalledFunction) {
  const trace::Frame create = {
      .file = "/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13+0xa3bc",
      .function = "cublasCreate_v2"};
  const trace::Frame inside = {
      .file = "/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublas.so.13+0x1f",
      .function = ""};
  const trace::Frame torch = {
      .file = "/venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so+0x3a4bd28",
      .function = "at::cuda::getCurrentCUDABlasHandle()"};
  const trace::Frame python = {.file = "/usr/bin/python3.12+0x18216e", .function = ""};
  EXPECT_EQ(LibraryCalled({inside, create, torch, python}), "cuBLAS, cublasCreate_v2");
  EXPECT_EQ(
      LibraryCalled({inside, torch, {.file = "/home/ada/train.py", .function = "", .line = 31}}),
      "cuBLAS, at train.py:31");
  EXPECT_EQ(LibraryCalled({{.file = "libnccl.so.2+0x5", .function = ""}, torch}), "NCCL");
  EXPECT_EQ(LibraryCalled({torch, create}), "");
  EXPECT_EQ(LibraryCalled({}), "");
}

TEST(FramesTest, LibraryFilesAreDistinguishedFromUserFiles) {
  EXPECT_TRUE(IsLibraryFile("/venv/lib/python3.11/site-packages/torch/optim/adam.py"));
  EXPECT_TRUE(IsLibraryFile("/usr/lib/python3.11/contextlib.py"));
  EXPECT_TRUE(IsLibraryFile("<frozen runpy>"));
  EXPECT_FALSE(IsLibraryFile("/home/ada/torch_things/train.py"));
  EXPECT_FALSE(IsLibraryFile("<string>"));
  EXPECT_FALSE(IsLibraryFile("<ipython-input-3-6b1f2d3a4c5e>"));
  EXPECT_FALSE(IsLibraryFile("/tmp/ipykernel_4711/2187103842.py"));
}

TEST(FramesTest, FilesGeneratedByTorchAreLibraryFiles) {
  const std::string name = "cuzzm6kvapzpqf7ggzhyrvqficlqxltobanetldtpqoadazmuchf.py";
  EXPECT_TRUE(IsLibraryFile("/tmp/torchinductor_ada/uz/" + name));
  EXPECT_TRUE(IsLibraryFile("/home/ada/cache/uz/" + name));
  EXPECT_FALSE(IsLibraryFile("/home/ada/ab/" + name));
  EXPECT_FALSE(IsLibraryFile("/home/ada/uz/cuzzm6k.py"));
  EXPECT_FALSE(IsLibraryFile(name));
  EXPECT_TRUE(IsLibraryFile("<eval_with_key>.7"));
}

TEST(FramesTest, FilePathsAreShortened) {
  EXPECT_EQ(ShortFile("/venv/lib/python3.11/site-packages/torch/optim/adam.py"),
            "torch/optim/adam.py");
  EXPECT_EQ(ShortFile("/home/ada/train.py"), "train.py");
  EXPECT_EQ(ShortFile("train.py"), "train.py");
  EXPECT_EQ(ShortFile("/tmp/ipykernel_4711/2187103842.py"), "ipykernel_4711/2187103842.py");
}

}  // namespace
}  // namespace memtrace::analysis
