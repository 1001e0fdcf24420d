// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Copies in three dimensions through the C interfaces.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>

namespace {

// Returns host bytes whose values are their indices.
std::array<unsigned char, 48> Numbered() {
  std::array<unsigned char, 48> bytes;
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  return bytes;
}

class VolumeCopiesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(&device_, 256), cudaSuccess);
    ASSERT_EQ(cudaMemset(device_, 0xff, 256), cudaSuccess);
  }
  void TearDown() override { EXPECT_EQ(cudaFree(device_), cudaSuccess); }

  // Copies a box of 2 x 2 x 2 bytes out of the host's 4 x 3 x 4 into the card's 3 x 2 x 2 at x = 1.
  cudaMemcpy3DParms Box(unsigned char* host) const {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = {.ptr = host, .pitch = 4, .xsize = 4, .ysize = 3};
    copy.srcPos = {.x = 1, .y = 1, .z = 2};
    copy.dstPtr = {.ptr = device_, .pitch = 3, .xsize = 3, .ysize = 2};
    copy.dstPos = {.x = 1, .y = 0, .z = 0};
    copy.extent = {.width = 2, .height = 2, .depth = 2};
    copy.kind = cudaMemcpyHostToDevice;
    return copy;
  }
  std::array<unsigned char, 12> Read() const {
    std::array<unsigned char, 12> bytes = {};
    EXPECT_EQ(cudaMemcpy(bytes.data(), device_, bytes.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    return bytes;
  }

  void* device_ = nullptr;
};

// Byte (x, y, z) of the host is 12 z + 4 y + x.
constexpr std::array<unsigned char, 12> kExpected = {0xff, 29, 30, 0xff, 33, 34,
                                                     0xff, 41, 42, 0xff, 45, 46};

TEST_F(VolumeCopiesTest, BoxIsCopiedRowByRow) {
  auto host = Numbered();
  const cudaMemcpy3DParms copy = Box(host.data());
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  EXPECT_EQ(Read(), kExpected);
}

TEST_F(VolumeCopiesTest, CapturedBoxIsCopiedAtEachLaunch) {
  auto host = Numbered();
  const cudaMemcpy3DParms copy = Box(host.data());
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaMemcpy3DAsync(&copy, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(Read()[1], 0xff);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(Read(), kExpected);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST_F(VolumeCopiesTest, BoxIsCopiedBetweenCards) {
  void* other = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&other, 64), cudaSuccess);
  auto host = Numbered();
  ASSERT_EQ(cudaMemcpy(other, host.data(), host.size(), cudaMemcpyHostToDevice), cudaSuccess);
  const cudaMemcpy3DParms box = Box(static_cast<unsigned char*>(other));
  cudaMemcpy3DPeerParms copy = {};
  copy.srcPtr = box.srcPtr;
  copy.srcPos = box.srcPos;
  copy.srcDevice = 1;
  copy.dstPtr = box.dstPtr;
  copy.dstPos = box.dstPos;
  copy.extent = box.extent;
  EXPECT_EQ(cudaMemcpy3DPeer(&copy), cudaSuccess);
  EXPECT_EQ(Read(), kExpected);
  EXPECT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(VolumeCopiesTest, BoxWithARowOutsideIsNotCopied) {
  auto host = Numbered();
  cudaMemcpy3DParms copy = Box(host.data());
  copy.dstPtr.ysize = 4u << 20;  // the second slice begins beyond the card's memory
  EXPECT_NE(cudaMemcpy3D(&copy), cudaSuccess);
  cudaGetLastError();
  EXPECT_EQ(Read()[1], 0xff);
}

TEST_F(VolumeCopiesTest, InvalidBoxIsRejected) {
  auto host = Numbered();
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  cudaMemcpy3DParms copy = Box(host.data());
  copy.srcPtr.pitch = 2;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
  copy = Box(nullptr);
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
  copy.srcArray = reinterpret_cast<cudaArray_t>(host.data());
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorNotSupported);
  // NOLINTNEXTLINE(bugprone-invalid-enum-default-initialization): refused before it is looked at
  CUDA_MEMCPY3D driver = {};
  driver.srcLOD = 1;
  EXPECT_EQ(cuMemcpy3D(&driver), CUDA_ERROR_INVALID_VALUE);
  cudaGetLastError();
}

}  // namespace
