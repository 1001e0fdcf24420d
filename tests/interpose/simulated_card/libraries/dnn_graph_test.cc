// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuDNN's graphs on a card of capability 9.0 (MEMTRACE_CARD as ctest sets it), through the six
// functions that a program uses.
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Counts = std::map<std::string, std::uint64_t>;
using Sizes = std::vector<std::int64_t>;

void Collect(void* counts, const char* name, std::uint64_t count) {
  (*static_cast<Counts*>(counts))[name] = count;
}

// A descriptor that is destroyed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    EXPECT_EQ(cudnnBackendCreateDescriptor(type, &raw_), CUDNN_STATUS_SUCCESS);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { cudnnBackendDestroyDescriptor(raw_); }

  cudnnBackendDescriptor_t raw() const { return raw_; }
  template <typename Value>
  void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const std::vector<Value>& values) {
    EXPECT_EQ(cudnnBackendSetAttribute(raw_, name, type, static_cast<std::int64_t>(values.size()),
                                       values.data()),
              CUDNN_STATUS_SUCCESS);
  }
  void Refer(cudnnBackendAttributeName_t name, const Descriptor& other) {
    Set<cudnnBackendDescriptor_t>(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {other.raw()});
  }
  cudnnStatus_t Finalize() { return cudnnBackendFinalize(raw_); }

 private:
  cudnnBackendDescriptor_t raw_ = nullptr;
};

class Tensor : public Descriptor {
 public:
  Tensor(std::int64_t id, const Sizes& sizes, bool channels_last = false,
         cudnnDataType_t type = CUDNN_DATA_BFLOAT16)
      : Descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
    Sizes strides(sizes.size(), 1);
    for (std::size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
    if (channels_last) strides = {strides[0], 1, sizes[3] * sizes[1], sizes[1]};
    Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, sizes);
    Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides);
    Set<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, {type});
    Set<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {id});
    Set<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {16});
    EXPECT_EQ(Finalize(), CUDNN_STATUS_SUCCESS);
  }
};

class How : public Descriptor {
 public:
  How() : Descriptor(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) {
    Set<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                         {CUDNN_DATA_FLOAT});
    Set<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                                {CUDNN_CROSS_CORRELATION});
    for (const auto name :
         {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
          CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS})
      Set<std::int64_t>(name, CUDNN_TYPE_INT64, {1, 1});
    Set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, {2});
    EXPECT_EQ(Finalize(), CUDNN_STATUS_SUCCESS);
  }
};

// y [1, 4, 16, 16] = x [1, 8, 16, 16] by 4 filters of 3 x 3.
class Convolution : public Descriptor {
 public:
  explicit Convolution(bool channels_last = false, cudnnDataType_t type = CUDNN_DATA_BFLOAT16,
                       std::int64_t height = 16)
      : Descriptor(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR),
        x_('x', {1, 8, 16, 16}, channels_last, type),
        w_('w', {4, 8, 3, 3}, channels_last, type),
        y_('y', {1, 4, height, 16}, channels_last, type) {
    Refer(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x_);
    Refer(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w_);
    Refer(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y_);
    Refer(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how_);
    EXPECT_EQ(Finalize(), CUDNN_STATUS_SUCCESS);
  }

 private:
  Tensor x_;
  Tensor w_;
  Tensor y_;
  How how_;
};

class Product : public Descriptor {
 public:
  Product(const Tensor& a, const Tensor& b, const Tensor& c)
      : Descriptor(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR),
        how_(CUDNN_BACKEND_MATMUL_DESCRIPTOR) {
    how_.Set<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                              {CUDNN_DATA_FLOAT});
    EXPECT_EQ(how_.Finalize(), CUDNN_STATUS_SUCCESS);
    Refer(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    Refer(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    Refer(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    Refer(CUDNN_ATTR_OPERATION_MATMUL_DESC, how_);
    EXPECT_EQ(Finalize(), CUDNN_STATUS_SUCCESS);
  }

 private:
  Descriptor how_;
};

// The numbers of cuDNN 9.20 (cudnn_graph_v9.h), which older headers do not name.
class Softmax : public Descriptor {
 public:
  Softmax(const Tensor& x, const Tensor& y)
      : Descriptor(static_cast<cudnnBackendDescriptorType_t>(45)) {
    Refer(static_cast<cudnnBackendAttributeName_t>(3100), x);
    EXPECT_EQ(Finalize(), CUDNN_STATUS_BAD_PARAM) << "it has no output";
    Refer(static_cast<cudnnBackendAttributeName_t>(3101), y);
    EXPECT_EQ(Finalize(), CUDNN_STATUS_SUCCESS);
  }
};

class DnnGraphTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    ASSERT_EQ(cudnnCreate(&handle_), CUDNN_STATUS_SUCCESS);
  }
  void TearDown() override { cudnnDestroy(handle_); }

  // Returns the workspaces of the configurations that a heuristic returns, in its order.
  std::vector<std::int64_t> Workspaces(const Descriptor& operation,
                                       cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A) {
    graph_.Refer(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    EXPECT_EQ(graph_.Finalize(), CUDNN_STATUS_SUCCESS);
    Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.Refer(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_);
    heuristic.Set<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, {mode});
    EXPECT_EQ(heuristic.Finalize(), CUDNN_STATUS_SUCCESS);
    std::int64_t count = 0;
    EXPECT_EQ(cudnnBackendGetAttribute(heuristic.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
              CUDNN_STATUS_SUCCESS);
    std::vector<std::int64_t> bytes;
    std::vector<std::unique_ptr<Descriptor>> results;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < count; ++i) {
      results.push_back(std::make_unique<Descriptor>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
      raw.push_back(results.back()->raw());
    }
    EXPECT_EQ(cudnnBackendGetAttribute(heuristic.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, raw.data()),
              CUDNN_STATUS_SUCCESS);
    for (const auto& result : results) {
      std::int64_t workspace = -1;
      EXPECT_EQ(cudnnBackendGetAttribute(result->raw(), CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
                                         CUDNN_TYPE_INT64, 1, nullptr, &workspace),
                CUDNN_STATUS_SUCCESS);
      bytes.push_back(workspace);
    }
    if (!results.empty()) {
      plan_.Refer(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *results.front());
      EXPECT_EQ(plan_.Finalize(), CUDNN_STATUS_SUCCESS);
    }
    return bytes;
  }

  cudnnStatus_t Execute(const std::vector<std::int64_t>& ids, const std::vector<void*>& addresses,
                        void* workspace) {
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids);
    pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, addresses);
    pack.Set<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {workspace});
    EXPECT_EQ(pack.Finalize(), CUDNN_STATUS_SUCCESS);
    return cudnnBackendExecute(handle_, plan_.raw(), pack.raw());
  }

  cudnnHandle_t handle_ = nullptr;
  Descriptor graph_{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
  Descriptor plan_{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
};

TEST_F(DnnGraphTest, TensorCoresCopyTensorsThatAreNotChannelsLast) {
  // The four channels of the output are padded to eight, which are 16 bytes.
  EXPECT_THAT(Workspaces(Convolution()), ElementsAre(4096 + 2 * 768 * 3 / 4 + 4096 + 147, 0));
}

TEST_F(DnnGraphTest, ChannelsLastNeedsNoWorkspace) {
  EXPECT_THAT(Workspaces(Convolution(true, CUDNN_DATA_FLOAT)), ElementsAre(0, 0));
}

TEST_F(DnnGraphTest, DoublesDoNotUseTensorCores) {
  EXPECT_THAT(Workspaces(Convolution(false, CUDNN_DATA_DOUBLE)), ElementsAre(0));
}

TEST_F(DnnGraphTest, FallbackNeedsNoWorkspace) {
  EXPECT_THAT(Workspaces(Convolution(), CUDNN_HEUR_MODE_FALLBACK), ElementsAre(0));
}

TEST_F(DnnGraphTest, ExecutionIsCountedOnlyWithAllPointers) {
  Workspaces(Convolution());
  int memory = 0;
  void* some = &memory;  // it is never dereferenced
  Counts before;
  memtrace_card_visit_kernels(Collect, &before);
  EXPECT_EQ(Execute({'x', 'w'}, {some, some}, some), CUDNN_STATUS_BAD_PARAM) << "y is missing";
  EXPECT_EQ(Execute({'x', 'w', 'y'}, {some, some, nullptr}, some), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(Execute({'x', 'w', 'y'}, {some, some, some}, nullptr), CUDNN_STATUS_BAD_PARAM)
      << "the plan has a workspace";
  EXPECT_EQ(Execute({'x', 'w', 'y'}, {some, some, some}, some), CUDNN_STATUS_SUCCESS);
  Counts after;
  memtrace_card_visit_kernels(Collect, &after);
  EXPECT_EQ(after["cuDNN convolution forward"], before["cuDNN convolution forward"] + 1);
}

TEST_F(DnnGraphTest, MismatchedSizesAreRejected) {
  const Convolution wrong(false, CUDNN_DATA_BFLOAT16, 15);
  graph_.Refer(CUDNN_ATTR_OPERATIONGRAPH_OPS, wrong);
  EXPECT_EQ(graph_.Finalize(), CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
}

TEST_F(DnnGraphTest, UnknownPatternIsRejectedByNameAndCounted) {
  const Convolution first;
  const Convolution second;
  graph_.Set<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       {first.raw(), second.raw()});
  EXPECT_EQ(graph_.Finalize(), CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN);
  char sentence[200];
  cudnnGetLastErrorString(sentence, sizeof(sentence));
  EXPECT_THAT(sentence, HasSubstr("convolution forward + convolution forward"));
  Counts counts;
  memtrace_card_visit_unsupported(Collect, &counts);
  EXPECT_EQ(counts["cuDNN graph of convolution forward + convolution forward"], 1u);
}

TEST_F(DnnGraphTest, AttentionHasTwoProductsAndASoftmax) {
  const Tensor queries('q', {1, 8, 64, 32});
  const Tensor keys('k', {1, 8, 32, 64});
  const Tensor values('v', {1, 8, 64, 32});
  const Tensor scores('s', {1, 8, 64, 64});
  const Tensor weights('w', {1, 8, 64, 64});
  const Tensor output('o', {1, 8, 64, 32});
  const Product first(queries, keys, scores);
  const Softmax softmax(scores, weights);
  const Product second(weights, values, output);
  Descriptor half(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  half.Set<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                     {first.raw(), softmax.raw()});
  EXPECT_EQ(half.Finalize(), CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN);
  graph_.Set<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       {first.raw(), softmax.raw(), second.raw()});
  EXPECT_EQ(graph_.Finalize(), CUDNN_STATUS_SUCCESS);
}

TEST_F(DnnGraphTest, UnknownDescriptorIsRejected) {
  cudnnBackendDescriptor_t descriptor = this;
  EXPECT_EQ(cudnnBackendCreateDescriptor(CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR, &descriptor),
            CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(descriptor, nullptr);
}

TEST_F(DnnGraphTest, DescriptorsAreWritableBeforeAndReadableAfterFinalizing) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  std::int64_t number = 0;
  EXPECT_EQ(cudnnBackendGetAttribute(engine.raw(), CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64,
                                     1, nullptr, &number),
            CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  EXPECT_EQ(engine.Finalize(), CUDNN_STATUS_BAD_PARAM) << "it has no graph";
  EXPECT_EQ(cudnnBackendSetAttribute(engine.raw(), CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
                                     &number),
            CUDNN_STATUS_BAD_PARAM)
      << "that is a tensor's";
  cudnnBackendDescriptor_t unfinished = graph_.raw();
  EXPECT_EQ(cudnnBackendSetAttribute(engine.raw(), CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &unfinished),
            CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  const Tensor tensor('t', {1, 1, 1, 1});
  cudnnBackendDescriptor_t wrong = tensor.raw();
  EXPECT_EQ(cudnnBackendSetAttribute(engine.raw(), CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &wrong),
            CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  EXPECT_EQ(cudnnBackendSetAttribute(tensor.raw(), CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
                                     &number),
            CUDNN_STATUS_BAD_PARAM)
      << "it is finalized";
}

TEST_F(DnnGraphTest, ContentsOutliveTheHandleThatMadeThem) {
  {
    const Convolution gone;
    graph_.Refer(CUDNN_ATTR_OPERATIONGRAPH_OPS, gone);
  }
  EXPECT_EQ(graph_.Finalize(), CUDNN_STATUS_SUCCESS);
}

}  // namespace
