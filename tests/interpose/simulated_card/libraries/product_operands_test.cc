// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Operands of cuBLAS' and cuBLASLt's products: those in the host's memory, and those that are gone.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/interpose/simulated_card/card_state.h"

namespace {

using ::memtrace::card::Activity;
using ::memtrace::card::Faults;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kGranule = 2u << 20;
constexpr std::size_t kGranules = 3;

// The first granule is the host's memory, the others are the card's.
class ProductOperandsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(memtrace::card::StartCard());
    ASSERT_EQ(cublasCreate(&blas_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtCreate(&lt_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cuMemAddressReserve(&begin_, kGranules * kGranule, 0, 0, 0), CUDA_SUCCESS);
    Map(0, CU_MEM_LOCATION_TYPE_HOST_NUMA);
    Map(1, CU_MEM_LOCATION_TYPE_DEVICE);
    Map(2, CU_MEM_LOCATION_TYPE_DEVICE);
    counted_before_ = Activity().product_bus_bytes;
    faults_before_ = Faults().size();
  }
  void TearDown() override {
    EXPECT_EQ(cuMemUnmap(begin_, kGranules * kGranule), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(begin_, kGranules * kGranule), CUDA_SUCCESS);
    EXPECT_EQ(cublasLtDestroy(lt_), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasDestroy(blas_), CUBLAS_STATUS_SUCCESS);
  }

  void Map(std::size_t granule, CUmemLocationType where) const {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = where;
    CUmemGenericAllocationHandle handle = 0;
    ASSERT_EQ(cuMemCreate(&handle, kGranule, &properties, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(begin_ + granule * kGranule, kGranule, 0, handle, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  }
  template <typename Element = float>
  Element* At(std::size_t granule) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): cuBLAS takes addresses as pointers.
    return reinterpret_cast<Element*>(begin_ + granule * kGranule);
  }
  std::uint64_t Counted() const { return Activity().product_bus_bytes - counted_before_; }
  std::vector<std::string> NewFaults() const {
    std::vector<std::string> faults = Faults();
    faults.erase(faults.begin(), faults.begin() + static_cast<std::ptrdiff_t>(faults_before_));
    return faults;
  }
  // Multiplies (16 x 8) by (8 x 4).
  cublasStatus_t Multiply(const float* a, const float* b, float* c,
                          cublasOperation_t of_a = CUBLAS_OP_N) const {
    const float one = 1;
    return cublasSgemm(blas_, of_a, CUBLAS_OP_N, 16, 4, 8, &one, a, of_a == CUBLAS_OP_N ? 16 : 8, b,
                       8, &one, c, 16);
  }

  cublasHandle_t blas_ = nullptr;
  cublasLtHandle_t lt_ = nullptr;
  CUdeviceptr begin_ = 0;
  std::uint64_t counted_before_ = 0;
  std::size_t faults_before_ = 0;
};

TEST_F(ProductOperandsTest, EachOperandInTheHostsMemoryCountsOnce) {
  ASSERT_EQ(Multiply(At(1), At(2), At(2)), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 0u) << "all are on the card";
  ASSERT_EQ(Multiply(At(0), At(1), At(2)), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 16u * 8 * 4) << "A";
  ASSERT_EQ(Multiply(At(0), At(1), At(2), CUBLAS_OP_T), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 2 * 16u * 8 * 4) << "A, transposed";
  ASSERT_EQ(Multiply(At(1), At(0), At(0)), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 2 * 16u * 8 * 4 + 8u * 4 * 4 + 16u * 4 * 4) << "B and C";
  EXPECT_EQ(Activity().bus_bytes, 0u) << "the exact figure has no estimates";
}

TEST_F(ProductOperandsTest, TypesAndBatchesCount) {
  const float one = 1;
  const auto multiply = [&](long long stride) {
    return cublasGemmStridedBatchedEx(blas_, CUBLAS_OP_N, CUBLAS_OP_N, 16, 4, 8, &one, At<void>(0),
                                      CUDA_R_16BF, 16, stride, At<void>(1), CUDA_R_16BF, 8, 32,
                                      &one, At<void>(2), CUDA_R_16BF, 16, 64, 5, CUBLAS_COMPUTE_32F,
                                      CUBLAS_GEMM_DEFAULT);
  };
  ASSERT_EQ(multiply(128), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 5u * 16 * 8 * 2);
  ASSERT_EQ(multiply(0), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 6u * 16 * 8 * 2) << "five times the same matrix";
}

TEST_F(ProductOperandsTest, ProductsOfCublasLtCount) {
  cublasLtMatmulDesc_t product = nullptr;
  ASSERT_EQ(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
            CUBLAS_STATUS_SUCCESS);
  cublasLtMatrixLayout_t a = nullptr;
  cublasLtMatrixLayout_t b = nullptr;
  cublasLtMatrixLayout_t d = nullptr;
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&a, CUDA_R_8F_E4M3, 16, 8, 32), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&b, CUDA_R_8F_E4M3, 8, 4, 8), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&d, CUDA_R_16BF, 16, 4, 16), CUBLAS_STATUS_SUCCESS);
  const float one = 1;
  const auto multiply = [&](const void* of_a, void* of_d) {
    return cublasLtMatmul(lt_, product, &one, of_a, a, At<void>(1), b, &one, of_d, d, of_d, d,
                          nullptr, nullptr, 0, nullptr);
  };
  ASSERT_EQ(multiply(At<void>(0), At<void>(2)), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 16u * 8) << "without the gaps between columns";
  ASSERT_EQ(multiply(At<void>(1), At<void>(0)), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 16u * 8 + 16u * 4 * 2) << "C and D are one operand";
  const std::uint32_t of_addresses = 1;
  ASSERT_EQ(cublasLtMatrixLayoutSetAttribute(a, static_cast<cublasLtMatrixLayoutAttribute_t>(8),
                                             &of_addresses, sizeof(of_addresses)),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(multiply(At<void>(0), At<void>(2)), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Counted(), 16u * 8 + 16u * 4 * 2) << "the matrices' addresses lie on the card";
  for (const cublasLtMatrixLayout_t layout : {a, b, d}) cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(product);
}

TEST_F(ProductOperandsTest, ReplayCountsAgain) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cublasSetStream(blas_, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ASSERT_EQ(Multiply(At(0), At(1), At(2)), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(Counted(), 0u) << "captured, not launched";
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  EXPECT_EQ(Counted(), 2 * 16u * 8 * 4);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(ProductOperandsTest, OperandThatWasTakenAwayIsAFault) {
  ASSERT_EQ(cuMemUnmap(begin_ + kGranule, kGranule), CUDA_SUCCESS);
  ASSERT_EQ(Multiply(At(0), At(2), At(2)), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(NewFaults(), IsEmpty());
  ASSERT_EQ(Multiply(At(0), At(1), At(2)), CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(NewFaults(), ElementsAre(AllOf(HasSubstr("cublasSgemm_v2 uses memory at"),
                                             HasSubstr("taken away by cuMemUnmap"))));
  Map(1, CU_MEM_LOCATION_TYPE_DEVICE);
}

}  // namespace
