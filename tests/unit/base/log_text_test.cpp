// Names of an untrusted model in a log that a CI server reads: what GitHub's runner and Azure Pipelines take for a command.
#include "base/log_text.h"

#include <gtest/gtest.h>

namespace vouchfs {
namespace {

TEST(LogText, BreaksGitHubsCommandsAtTheStartOfALine) {
  EXPECT_EQ(without_log_commands("::stop-commands::x"), "\\x3a:stop-commands::x");
  EXPECT_EQ(without_log_commands("a::b\n \t::error::x"), "a::b\n \t\\x3a:error::x");
}

TEST(LogText, BreaksTheOldFormAndAzuresAnywhereInALine) {
  EXPECT_EQ(without_log_commands("tensor ##[stop-commands]tok"), "tensor #\\x23[stop-commands]tok");
  EXPECT_EQ(without_log_commands("###[a]##vso[task.x]y##VSO[z"), "##\\x23[a]#\\x23vso[task.x]y#\\x23VSO[z");
}

TEST(LogText, KeepsEverythingElse) {
  for (const char* text : {"", "#", "##", "## heading", "# [x]", "std::vector", ":", "a : :b", "##vso", "layers.0.weight [1, 2]\n"})
    EXPECT_EQ(without_log_commands(text), text);
}

}  // namespace
}  // namespace vouchfs
