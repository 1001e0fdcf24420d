// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/recorded_text/secrets.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

void ExpectShown(std::string_view command, std::string_view shown) {
  EXPECT_EQ(WithoutSecrets(command), shown);
}

TEST(SecretsTest, ValuesOfSecretOptionsAreHidden) {
  ExpectShown(R"(["python","t.py","--api-token=abc","--lr","0.1"])",
              R"(["python","t.py","--api-token=***","--lr","0.1"])");
  ExpectShown(R"(["t.py","--hf_token","abc","--steps","3"])",
              R"(["t.py","--hf_token","***","--steps","3"])");
  ExpectShown(R"(["t.py","-password","a b","--secret", "c"])",
              R"(["t.py","-password","***","--secret", "***"])");
  ExpectShown(R"(["t.py","--apiKey=12345","+wandb.api_key=x,y&z"])",
              R"(["t.py","--apiKey=***","+wandb.api_key=***"])");
  ExpectShown(R"(["t.py","--use-token","--steps","3"])", R"(["t.py","--use-token","--steps","3"])");
}

TEST(SecretsTest, ValuesOfSecretVariablesAreHidden) {
  ExpectShown(R"(["env","WANDB_API_KEY=abc","A=1","python"])",
              R"(["env","WANDB_API_KEY=***","A=1","python"])");
  ExpectShown(R"(["sh","-c","HF_TOKEN=abc python t.py --password 'x y' --n 3"])",
              R"(["sh","-c","HF_TOKEN=*** python t.py --password '***' --n 3"])");
  ExpectShown(R"(["sh","-c","export PASSWORD=\"x y\"\npython t.py"])",
              R"(["sh","-c","export PASSWORD=\"***\"\npython t.py"])");
  ExpectShown(R"(["python","-c","api_key = 'abc'; x = 1"])",
              R"(["python","-c","api_key = '***'; x = 1"])");
}

TEST(SecretsTest, SecretFieldsAreHidden) {
  ExpectShown(R"(["--config","{\"api_key\":\"abc\",\"lr\":1}"])",
              R"(["--config","{\"api_key\":\"***\",\"lr\":1}"])");
  ExpectShown(R"(["--config","{secret: abc, lr: 1}"])", R"(["--config","{secret: ***, lr: 1}"])");
  ExpectShown(R"(["-H","Authorization: Bearer abc"])", R"(["-H","Authorization: ***"])");
}

TEST(SecretsTest, PasswordsInUrlsAreHidden) {
  ExpectShown(R"(["--url","postgres://ann:abc@host:5432/db"])",
              R"(["--url","postgres://ann:***@host:5432/db"])");
  ExpectShown(R"(["https://abc@github.com/a/b"])", R"(["https://***@github.com/a/b"])");
  ExpectShown(R"(["https://host/x?token=abc&page=2"])", R"(["https://host/x?token=***&page=2"])");
  ExpectShown(R"(["ssh://git@host/a","s3://bucket/key"])",
              R"(["ssh://git@host/a","s3://bucket/key"])");
}

TEST(SecretsTest, WellKnownTokensAreHidden) {
  ExpectShown(R"(["login.py","hf_abcdefghijklmnopqrstuvwxyz"])", R"(["login.py","***"])");
  ExpectShown(R"(["hf_model"])", R"(["hf_model"])");
}

TEST(SecretsTest, WordsThatOnlyResembleSecretsAreKept) {
  for (const char* words :
       {R"(["--max-tokens","4096","--tokenizer","gpt2","--pad_token_id","0"])",
        R"(["--num_key_value_heads=8","--key-dim","64","--tokens=3","train.key"])",
        R"(["python","/home/ann/token/train.py","--keys","a,b"])", R"(["--password"])", "[]", "",
        R"(["a\\"])"}) {
    EXPECT_EQ(WithoutSecrets(words), words);
  }
}

TEST(SecretsTest, TruncatedTextIsHandled) {
  const std::string text =
      R"(["--token=\"a b\"","--key","c\\","u://a:b@c","{\"secret\": \"x\"}","Bearer x"])";
  for (size_t length = 0; length <= text.size(); ++length)
    EXPECT_LE(WithoutSecrets(text.substr(0, length)).size(), length + 40);
}

}  // namespace
}  // namespace memtrace
