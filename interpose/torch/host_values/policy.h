// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_POLICY_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_POLICY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::shim {

// A line of the Python program, as it appears in its stack.
struct PythonLine {
  std::string file;
  int line = 0;
  std::string function;
};

// The host's answers for an unknown value, by the kind of number that it reads.
struct ReadAnswer {
  double condition = 0;
  double whole = 0;
  double real = 0;
};

// Which of several choices an operator takes for each of its rows, if that is unknown.
enum class Choice : uint8_t {
  kNone,   // the rule says nothing of it
  kEven,   // each is taken as often as any other
  kFirst,  // the first ones, by every row
};

// The rule for one operator whose values are unknown. The top of default.policy describes its
// grammar.
struct OperatorRule {
  struct Place {
    std::string file;  // the end of a path
    int line = 0;      // 0: any
    ReadAnswer answer;
  };
  std::optional<ReadAnswer> read;
  std::vector<Place> reads_at;
  std::vector<double> inside;
  std::optional<double> result;
  Choice choice = Choice::kNone;  // of the result's indices
  int64_t most_choices = 0;       // the choice is stated for at most so many; 0: any number
  bool widens = false;            // whole numbers are computed as real ones
  std::optional<double> count;
  std::vector<std::string> writes;
  bool open = false;
  bool never = false;
  bool is_private = false;  // what it reads of the card decides nothing that the program sees

  bool StatesChoice() const { return choice != Choice::kNone; }
  ReadAnswer AnswerAt(const std::vector<PythonLine>& stack) const;
};

// The policy for values that no kernel computed. Plain data: filled at start, then only read.
class HostValuesPolicy {
 public:
  // Adds the lines of a file, which win over earlier ones. Returns "" or one sentence that tells
  // what is wrong and where; the lines before the wrong one are then in force.
  std::string AddFile(const std::string& path);
  // `name` is the file's name, for the sentence.
  std::string AddText(std::string_view text, const std::string& name);

  // Looks up the full name first ("aten::index.Tensor"), then without overload. Never returns null.
  const OperatorRule* Find(const std::string& name, const std::string& overload) const;
  // Returns the names of all operators that have a rule.
  std::vector<std::string> OperatorNames() const;

  int64_t most_whole = 0;
  int64_t most_real = 0;
  uint64_t stop_condition = 0;
  uint64_t stop_number = 0;

 private:
  std::string AddLine(const std::vector<std::string>& words);
  std::string AddSetting(const std::vector<std::string>& words);

  std::map<std::string, OperatorRule> rules_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_POLICY_H_
