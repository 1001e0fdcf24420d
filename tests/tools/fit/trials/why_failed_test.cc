// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/why_failed.h"

#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

std::string Log(const std::string& error) {
  return "epoch 0\nTraceback (most recent call last):\n"
         "  File \"/home/me/train.py\", line 12, in <module>\n    main()\n"
         "  File \"/home/me/data/load.py\", line 3, in main\n    load()\n"
         "  File \"/home/me/.venv/lib/python3.11/site-packages/datasets/load.py\", line 99, in "
         "load\n"
         "    ^^^^^^\n" +
         error + "\n";
}

TEST(WhyFailedTest, UsersInnermostLineAndErrorAreNamed) {
  EXPECT_EQ(WhyFailed(Log("ValueError: 3 is no size"), false),
            "load.py:3 raises ValueError: 3 is no size");
}

TEST(WhyFailedTest, StubIsSuggestedForMissingFilesOrNetwork) {
  constexpr const char* kOffer =
      "; write a replacement for it into a Python file, and name that with --stub";
  EXPECT_EQ(
      WhyFailed(Log("FileNotFoundError: [Errno 2] No such file: 'x'"), false),
      "load.py:3 needs a file that does not exist (FileNotFoundError: [Errno 2] No such file: "
      "'x')" +
          std::string(kOffer));
  EXPECT_EQ(WhyFailed(Log("requests.exceptions.ConnectionError: no"), false),
            "load.py:3 needs the network or a hub (requests.exceptions.ConnectionError: no)" +
                std::string(kOffer));
  EXPECT_EQ(
      WhyFailed(Log("EOFError: EOF when reading a line"), true),
      "load.py:3 asks the user for input, and nobody is there (EOFError: EOF when reading a line)");
}

TEST(WhyFailedTest, PlaceOfAnEndedProgramIsNamed) {
  const std::string log =
      "Timeout (0:00:13)!\nThread 0x01 (most recent call first):\n"
      "  File \"/home/me/loader.py\", line 2 in work\n\n"
      "Thread 0x02 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/site-packages/torch/a.py\", line 7 in wait\n"
      "  File \"/home/me/train.py\", line 31 in main\n"
      "  File \"/home/me/train.py\", line 40 in <module>\n";
  EXPECT_EQ(PlaceAtEnd(log), "train.py:31");
  EXPECT_EQ(PlaceAtEnd(Log("ValueError: 3")), "");
}

TEST(WhyFailedTest, EmptyFileIsNotReportedAsMissingUserInput) {
  EXPECT_EQ(WhyFailed(Log("EOFError: Ran out of input"), false),
            "load.py:3 raises EOFError: Ran out of input");
}

TEST(WhyFailedTest, FirstOfSeveralRanksThatFailIsNamed) {
  const auto of_rank = [](const std::string& rank, const std::string& error) {
    return rank + "Traceback (most recent call last):\n" + rank +
           "  File \"/home/me/train.py\", line 12, in <module>\n" + rank + "    main()\n" + rank +
           error + "\n";
  };
  EXPECT_EQ(WhyFailed(of_rank("[rank0]: ", "ValueError: 3 is no divisor of 8") +
                          of_rank("[rank4]: ", "RuntimeError: rank 0 has left") +
                          "[rank0]:[W1128 07:22:59 ProcessGroupNCCL.cpp:1575] Warning: leaves\n",
                      false),
            "train.py:12 raises ValueError: 3 is no divisor of 8");
}

TEST(WhyFailedTest, LastTracebackCounts) {
  EXPECT_EQ(
      WhyFailed(Log("KeyError: 'a'") +
                    "\nDuring handling of the above exception, another exception occurred:\n\n" +
                    "Traceback (most recent call last):\n"
                    "  File \"/home/me/train.py\", line 14, in <module>\n    stop()\n"
                    "RuntimeError: stopped\n",
                false),
      "train.py:14 raises RuntimeError: stopped");
}

TEST(WhyFailedTest, NothingIsReportedWithoutATraceback) {
  EXPECT_EQ(WhyFailed("Segmentation fault\n", false), "");
  EXPECT_EQ(WhyFailed("", false), "");
}

TEST(WhyFailedTest, MessageOfOurOwnProgramIsUsed) {
  EXPECT_EQ(WhyFailed(Log("KeyError: 1") + "memtrace: models/x has no config.json\n", false),
            "models/x has no config.json");
}

TEST(WhyFailedTest, LogThatBeginsWithinATracebackIsRead) {
  const std::string log = Log("ValueError: no");
  EXPECT_EQ(WhyFailed(log.substr(log.find("  File")), false), "load.py:3 raises ValueError: no");
}

}  // namespace
}  // namespace memtrace::fit
