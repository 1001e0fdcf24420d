// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN's older interface on a card of capability 9.0 (MEMTRACE_CARD as ctest sets it), as a
// program sees it.
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "interpose/simulated_card/interface/card_control.h"

namespace {

using ::testing::HasSubstr;

using Counts = std::map<std::string, std::uint64_t>;

void Collect(void* counts, const char* name, std::uint64_t count) {
  (*static_cast<Counts*>(counts))[name] = count;
}

class DnnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    ASSERT_EQ(cudnnCreate(&handle_), CUDNN_STATUS_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(cudnnDestroy(handle_), CUDNN_STATUS_SUCCESS); }

  cudnnHandle_t handle_ = nullptr;
};

TEST_F(DnnTest, VersionPropertiesAgreeWithTheVersion) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  ASSERT_EQ(cudnnGetProperty(MAJOR_VERSION, &major), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudnnGetProperty(MINOR_VERSION, &minor), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudnnGetProperty(PATCH_LEVEL, &patch), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(major * 10000 + minor * 100 + patch), cudnnGetVersion());
}

TEST_F(DnnTest, HandleKeepsItsStream) {
  cudaStream_t stream = nullptr;
  cudaStream_t kept = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudnnSetStream(handle_, stream), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudnnGetStream(handle_, &kept), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(kept, stream);
  EXPECT_EQ(cudnnSetStream(nullptr, stream), CUDNN_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(DnnTest, TensorDescriptorIsReadBack) {
  cudnnTensorDescriptor_t tensor = nullptr;
  ASSERT_EQ(cudnnCreateTensorDescriptor(&tensor), CUDNN_STATUS_SUCCESS);
  const int sizes[] = {2, 3, 4};
  const int strides[] = {12, 4, 1};
  ASSERT_EQ(cudnnSetTensorNdDescriptor(tensor, CUDNN_DATA_HALF, 3, sizes, strides),
            CUDNN_STATUS_SUCCESS);
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int dimensions = 0;
  int read_sizes[2] = {};
  int read_strides[2] = {};
  ASSERT_EQ(cudnnGetTensorNdDescriptor(tensor, 2, &type, &dimensions, read_sizes, read_strides),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(type, CUDNN_DATA_HALF);
  EXPECT_EQ(dimensions, 3);
  EXPECT_THAT(read_sizes, ::testing::ElementsAre(2, 3));
  EXPECT_THAT(read_strides, ::testing::ElementsAre(12, 4));
  EXPECT_EQ(cudnnSetTensorNdDescriptor(tensor, CUDNN_DATA_HALF, 9, sizes, strides),
            CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
  EXPECT_EQ(cudnnDestroyTensorDescriptor(tensor), CUDNN_STATUS_SUCCESS);
}

// Convolves halves of [1, 8, 16, 16] by 4 filters of 3 x 3: 4096, 576 and 2048 bytes, each copied.
TEST_F(DnnTest, ConvolutionOffersTensorCoresAndAPlainAlgorithm) {
  cudnnTensorDescriptor_t x = nullptr;
  cudnnTensorDescriptor_t y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t how = nullptr;
  const int x_sizes[] = {1, 8, 16, 16};
  const int x_strides[] = {2048, 256, 16, 1};
  const int y_sizes[] = {1, 4, 16, 16};
  const int y_strides[] = {1024, 256, 16, 1};
  const int w_sizes[] = {4, 8, 3, 3};
  const int ones[] = {1, 1};
  ASSERT_EQ(cudnnCreateTensorDescriptor(&x), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudnnCreateTensorDescriptor(&y), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudnnCreateFilterDescriptor(&w), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudnnCreateConvolutionDescriptor(&how), CUDNN_STATUS_SUCCESS);
  cudnnSetTensorNdDescriptor(x, CUDNN_DATA_HALF, 4, x_sizes, x_strides);
  cudnnSetTensorNdDescriptor(y, CUDNN_DATA_HALF, 4, y_sizes, y_strides);
  cudnnSetFilterNdDescriptor(w, CUDNN_DATA_HALF, CUDNN_TENSOR_NCHW, 4, w_sizes);
  cudnnSetConvolutionNdDescriptor(how, 2, ones, ones, ones, CUDNN_CROSS_CORRELATION,
                                  CUDNN_DATA_FLOAT);
  cudnnConvolutionFwdAlgoPerf_t found[5];
  int count = 0;
  ASSERT_EQ(cudnnGetConvolutionForwardAlgorithm_v7(handle_, x, w, how, y, 5, &count, found),
            CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(count, 2);
  EXPECT_EQ(found[0].memory, 4096u + 768 + 2048) << "576 bytes begin a new 256 three times";
  EXPECT_EQ(found[1].memory, 0u);
  std::size_t bytes = 1;
  ASSERT_EQ(cudnnGetConvolutionForwardWorkspaceSize(handle_, x, w, how, y, found[0].algo, &bytes),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(bytes, found[0].memory);
  cudnnSetConvolutionMathType(how, CUDNN_FMA_MATH);
  ASSERT_EQ(cudnnGetConvolutionForwardAlgorithm_v7(handle_, x, w, how, y, 5, &count, found),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(count, 1) << "tensor cores are forbidden";
  cudnnDestroyTensorDescriptor(x);
  cudnnDestroyTensorDescriptor(y);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyConvolutionDescriptor(how);
}

TEST_F(DnnTest, RecurrentWeightsLieInsideTheGivenSpace) {
  cudnnRNNDescriptor_t rnn = nullptr;
  ASSERT_EQ(cudnnCreateRNNDescriptor(&rnn), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(
      cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS,
                               CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT,
                               CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, 3, 5, 0, 1, nullptr, 0),
      CUDNN_STATUS_SUCCESS);
  std::size_t bytes = 0;
  ASSERT_EQ(cudnnGetRNNWeightSpaceSize(handle_, rnn, &bytes), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(bytes, 4u * (4 * 5 * (3 + 5 + 2)));
  const char* weights = reinterpret_cast<const char*>(std::uintptr_t{1} << 40);
  cudnnTensorDescriptor_t matrix = nullptr;
  cudnnTensorDescriptor_t bias = nullptr;
  void* matrix_address = nullptr;
  void* bias_address = nullptr;
  ASSERT_EQ(cudnnCreateTensorDescriptor(&matrix), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudnnCreateTensorDescriptor(&bias), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudnnGetRNNWeightParams(handle_, rnn, 0, bytes, weights, 1, matrix, &matrix_address,
                                    bias, &bias_address),
            CUDNN_STATUS_SUCCESS);
  // Offsets in floats: the second gate's matrix follows the first's 5 x 3; biases follow all 4 x 5
  // x (3 + 5) of the matrices, the second gate's after the first's 5.
  constexpr std::size_t kMatrixAt = 60;
  constexpr std::size_t kBiasAt = 660;
  EXPECT_EQ(matrix_address, weights + kMatrixAt);
  EXPECT_EQ(bias_address, weights + kBiasAt);
  EXPECT_EQ(cudnnGetRNNWeightParams(handle_, rnn, 0, bytes - 1, weights, 1, matrix, &matrix_address,
                                    bias, &bias_address),
            CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  EXPECT_EQ(cudnnGetRNNWeightParams(handle_, rnn, 1, bytes, weights, 1, matrix, &matrix_address,
                                    bias, &bias_address),
            CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
  cudnnDestroyTensorDescriptor(matrix);
  cudnnDestroyTensorDescriptor(bias);
  cudnnDestroyRNNDescriptor(rnn);
}

TEST_F(DnnTest, UnsupportedFunctionsFailAndAreCountedByName) {
  EXPECT_EQ(cudnnSoftmaxForward(handle_, CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_MODE_CHANNEL, nullptr,
                                nullptr, nullptr, nullptr, nullptr, nullptr),
            CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_THAT(cudnnGetErrorString(CUDNN_STATUS_NOT_SUPPORTED), HasSubstr("simulated card"));
  Counts counts;
  memtrace_card_visit_unsupported(Collect, &counts);
  EXPECT_EQ(counts["cudnnSoftmaxForward"], 1u);
}

}  // namespace
