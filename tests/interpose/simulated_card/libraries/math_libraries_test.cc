// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// cuSOLVER, cuSPARSE and cuFFT (MEMTRACE_CARD as ctest sets it): what they do not have fails by
// name, and a factorization says on the card that it succeeded.
#include <cuda_runtime_api.h>
#include <cufft.h>
#include <cufftXt.h>
#include <cusolverDn.h>
#include <cusparse.h>
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

Counts Unsupported() {
  Counts counts;
  memtrace_card_visit_unsupported(Collect, &counts);
  return counts;
}

TEST(MathLibrariesTest, FactorizationWritesOnlyItsSuccess) {
  cusolverDnHandle_t handle = nullptr;
  ASSERT_EQ(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS);
  int elements = -1;
  ASSERT_EQ(cusolverDnSpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, 4, nullptr, 4, &elements),
            CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(elements, 0);
  const int before[] = {7, 7, 7};
  int after[] = {0, 0, 0};
  void* info = nullptr;
  ASSERT_EQ(cudaMalloc(&info, sizeof(before)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(info, before, sizeof(before), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cusolverDnSpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, 4, nullptr, 4,
                                    static_cast<int*>(info), 2),
            CUSOLVER_STATUS_SUCCESS);
  ASSERT_EQ(cudaMemcpy(after, info, sizeof(after), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(after, ::testing::ElementsAre(0, 0, 7));
  Counts launches;
  memtrace_card_visit_kernels(Collect, &launches);
  EXPECT_EQ(launches["cusolverDnSpotrfBatched"], 1u);
  EXPECT_EQ(cudaFree(info), cudaSuccess);
  EXPECT_EQ(cusolverDnDestroy(handle), CUSOLVER_STATUS_SUCCESS);
}

// The figures are an H200's (sizes_solvers.jsonl).
TEST(MathLibrariesTest, EigenvaluesWorkspaceMatchesARealCard) {
  cusolverDnHandle_t handle = nullptr;
  ASSERT_EQ(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS);
  std::size_t on_card = 0;
  std::size_t on_host = 1;
  ASSERT_EQ(cusolverDnXsyevd_bufferSize(handle, nullptr, CUSOLVER_EIG_MODE_VECTOR,
                                        CUBLAS_FILL_MODE_LOWER, 1024, CUDA_R_32F, nullptr, 1024,
                                        CUDA_R_32F, nullptr, CUDA_R_32F, &on_card, &on_host),
            CUSOLVER_STATUS_SUCCESS);
  EXPECT_NEAR(static_cast<double>(on_card), 17429388, 100);
  EXPECT_EQ(on_host, 0u);
  EXPECT_EQ(cusolverDnDestroy(handle), CUSOLVER_STATUS_SUCCESS);
}

TEST(MathLibrariesTest, OtherFactorizationsFailByName) {
  cusolverDnHandle_t handle = nullptr;
  ASSERT_EQ(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS);
  int elements = 0;
  EXPECT_EQ(cusolverDnSgetrf_bufferSize(handle, 4, 4, nullptr, 4, &elements),
            CUSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(Unsupported()["cusolverDnSgetrf_bufferSize"], 1u);
  EXPECT_EQ(cusolverDnDestroy(handle), CUSOLVER_STATUS_SUCCESS);
}

TEST(MathLibrariesTest, SparseProductFailsByNameButItsObjectsAreMade) {
  cusparseHandle_t handle = nullptr;
  cusparseDnVecDescr_t vector = nullptr;
  float value = 0;
  ASSERT_EQ(cusparseCreate(&handle), CUSPARSE_STATUS_SUCCESS);
  ASSERT_EQ(cusparseCreateDnVec(&vector, 1, &value, CUDA_R_32F), CUSPARSE_STATUS_SUCCESS);
  std::size_t bytes = 0;
  const cusparseStatus_t status =
      cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &value, nullptr, vector,
                              &value, vector, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
  EXPECT_EQ(status, CUSPARSE_STATUS_NOT_SUPPORTED);
  EXPECT_THAT(cusparseGetErrorString(status), HasSubstr("simulated card"));
  EXPECT_EQ(Unsupported()["cusparseSpMV_bufferSize"], 1u);
  EXPECT_EQ(cusparseDestroyDnVec(vector), CUSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(cusparseDestroy(handle), CUSPARSE_STATUS_SUCCESS);
}

// The figures are an H200's (tests/gpu/recordings/h200/sizes_solvers.jsonl).
TEST(MathLibrariesTest, TransformWorkspaceIsTheSignalUnlessOnePassSuffices) {
  const auto work = [](long long length, long long batch, cudaDataType from, cudaDataType to) {
    cufftHandle plan = 0;
    std::size_t bytes = 1;
    EXPECT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
    EXPECT_EQ(cufftXtMakePlanMany(plan, 1, &length, nullptr, 1, length, from, nullptr, 1, length,
                                  to, batch, &bytes, to),
              CUFFT_SUCCESS);
    EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
    EXPECT_EQ(cufftDestroy(plan), CUFFT_INVALID_PLAN);
    return bytes;
  };
  EXPECT_EQ(work(400, 4000, CUDA_C_32F, CUDA_C_32F), 0u);
  EXPECT_EQ(work(97, 64, CUDA_R_32F, CUDA_C_32F), 0u);
  EXPECT_EQ(work(65536, 8, CUDA_C_32F, CUDA_C_32F), 4194304u);
  EXPECT_EQ(work(30000, 4, CUDA_R_32F, CUDA_C_32F), 480000u);
  EXPECT_EQ(work(2000, 16, CUDA_R_32F, CUDA_C_32F), 128000u);
  EXPECT_EQ(work(1 << 20, 1, CUDA_C_64F, CUDA_C_64F), 16777216u);
}

TEST(MathLibrariesTest, OtherTransformsFailWhenPlanned) {
  cufftHandle first = 0;
  cufftHandle second = 0;
  ASSERT_EQ(cufftCreate(&first), CUFFT_SUCCESS);
  ASSERT_EQ(cufftCreate(&second), CUFFT_SUCCESS);
  EXPECT_NE(first, second);
  std::size_t bytes = 0;
  EXPECT_EQ(cufftMakePlan1d(first, 8, CUFFT_C2C, 1, &bytes), CUFFT_NOT_SUPPORTED);
  EXPECT_EQ(Unsupported()["cufftMakePlan1d"], 1u);
  EXPECT_EQ(cufftDestroy(first), CUFFT_SUCCESS);
}

}  // namespace
