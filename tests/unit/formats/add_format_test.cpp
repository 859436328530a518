#include "formats/add_format.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vouchfs::formats {
namespace {

using nlohmann::json;

std::string edited(const std::string& text) {
  const auto edit = format_edit(text);
  if (!edit) return "none";
  EXPECT_EQ(edit->text.size(), kFormatEditGrowth + (edit->end - edit->begin));
  return text.substr(0, edit->begin) + edit->text + text.substr(edit->end);
}

const char* const kTensor = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

TEST(FormatEdit, GivesAHeaderThatSaysTheSameAndItsFormat) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {kTensor, "{}"},
      {"  \t\n" + std::string(kTensor) + "   ", "{}"},
      {R"({ "w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]} , "__metadata__" : { } })", "{}"},
      {R"({"__metadata__":{"who":"m}{e","x":""},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", R"({"who":"m}{e","x":""})"},
      {R"({"__metadata__":null,"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "{}"},
      {R"({"null":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\u005f_metadata__":null})", "{}"},
      {R"({"a{:":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\u005f_meta\u0064ata__":{"a":"b"}})", R"({"a":"b"})"},
      {"{}", "{}"},
      {" { } ", "{}"},
  };
  for (const auto& [text, metadata] : cases) {
    json expected = json::parse(text);
    expected["__metadata__"] = json::parse(metadata);
    expected["__metadata__"]["format"] = "pt";
    const std::string after = edited(text);
    ASSERT_EQ(json::parse(after, nullptr, false), expected) << text;
    EXPECT_EQ(after.size(), text.size() + kFormatEditGrowth) << text;
  }
}

TEST(FormatEdit, LeavesAHeaderAloneThatHasAFormat) {
  for (const char* text : {R"({"__metadata__":{"format":"pt"}})", R"({"__metadata__":{"format":"mlx"}})", R"({"__metadata__":{"a":"b","form\u0061t":""}})"})
    EXPECT_EQ(edited(text), "none") << text;
  // A tensor of that name is no format.
  EXPECT_NE(edited(R"({"format":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})"), "none");
}

TEST(FormatEdit, RefusesWhatIsNoHeader) {
  for (const char* text : {"", "   ", "[]", "3", "{", "{} x", "nul", R"({"__metadata__":3})", R"({"__metadata__":[]})"})
    EXPECT_EQ(edited(text), "none") << text;
}

}  // namespace
}  // namespace vouchfs::formats
