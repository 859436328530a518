// The one door to every weight format.
#include "formats/weight_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/gguf_sample.h"
#include "unit/formats/torch_sample.h"

namespace vouchfs::formats::test {
namespace {

std::optional<WeightHeader> header_of(const std::string& name, const std::string& file) {
  auto header = read_weight_header(name, file.size(), reader_of(file));
  if (!header) {
    ADD_FAILURE() << header.error().describe();
    return std::nullopt;
  }
  return *std::move(header);
}

TEST(WeightFile, WordsOfFormatsAreTheirNames) {
  for (const WeightFormat format : {WeightFormat::safetensors, WeightFormat::gguf, WeightFormat::torch})
    EXPECT_EQ(weight_format_from(to_string(format)), format);
  EXPECT_STREQ(to_string(WeightFormat::safetensors), "safetensors");
  EXPECT_STREQ(to_string(WeightFormat::gguf), "gguf");
  EXPECT_STREQ(to_string(WeightFormat::torch), "torch");
  for (const char* word : {"", "SAFETENSORS", "unknown", "zip"}) EXPECT_EQ(weight_format_from(word), std::nullopt) << word;
}

TEST(WeightFile, NamesPromiseAFormat) {
  EXPECT_EQ(weight_format_of_name("model.safetensors"), WeightFormat::safetensors);
  EXPECT_EQ(weight_format_of_name("m-00001-of-00002.gguf"), WeightFormat::gguf);
  for (const char* name : {"pytorch_model.bin", "a.pt", "consolidated.00.pth", "sd.ckpt"}) EXPECT_EQ(weight_format_of_name(name), WeightFormat::torch) << name;
  for (const char* name : {"", "config.json", "model.safetensors.index.json", "gguf", "model.gguf.part", "x.npz"})
    EXPECT_EQ(weight_format_of_name(name), std::nullopt) << name;
}

TEST(WeightFile, SafetensorsAndGgufAreReadByName) {
  const auto safetensors = header_of("model.safetensors", two_tensors());
  ASSERT_TRUE(safetensors);
  EXPECT_EQ(safetensors->format, WeightFormat::safetensors);
  EXPECT_EQ(safetensors->tensors.size(), 2U);
  const auto gguf = header_of("model.gguf", small_gguf().write());
  ASSERT_TRUE(gguf);
  EXPECT_EQ(gguf->format, WeightFormat::gguf);
  EXPECT_EQ(gguf->tensors.size(), 2U);
  EXPECT_FALSE(header_of("config.json", two_tensors()));
}

TEST(WeightFile, AFileThatIsNotWhatItsNameSaysHasAProblemAndNoTensors) {
  for (const auto& [name, file] :
       {std::pair("model.safetensors", small_gguf().write()), std::pair("model.gguf", two_tensors()), std::pair("model.gguf", std::string())}) {
    const auto header = header_of(name, file);
    ASSERT_TRUE(header) << name;
    EXPECT_TRUE(header->problem) << name;
    EXPECT_TRUE(header->tensors.empty());
  }
}

// training_args.bin, raw arrays, pointers and pages: nothing that a table could speak of.
TEST(WeightFile, AFileOfATorchNameWithoutTheMarksOfTorchIsNoWeightFile) {
  for (const std::string& file : {std::string(), std::string("\x80"), std::string("\x80\x02}q\x00.", 6), std::string(5000, 'x'), small_gguf().write()})
    for (const char* name : {"pytorch_model.bin", "a.pt", "a.pth", "a.ckpt"}) EXPECT_FALSE(header_of(name, file)) << name;
}

TEST(WeightFile, AFileOfATorchNameIsToldByItsFirstBytes) {
  std::uint64_t bytes_read = 0;
  const std::string file = "\x80\x04" + std::string(1 << 20, '.');  // a pickle, but not one that torch.save begins with
  const auto header = read_weight_header("optimizer.bin", file.size(), [&](std::uint64_t offset, std::span<std::uint8_t> dst) {
    bytes_read += dst.size();
    return reader_of(file)(offset, dst);
  });
  ASSERT_TRUE(header);
  EXPECT_FALSE(*header);
  EXPECT_LE(bytes_read, 64U);
}

TEST(WeightFile, TorchFilesWithTensorsAreWeightFilesAndThoseWithoutAreNot) {
  const auto header = header_of("pytorch_model.bin", torch_zip(two_parts()));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->format, WeightFormat::torch);
  EXPECT_FALSE(header->problem);
  EXPECT_EQ(header->tensors.size(), 2U);
  EXPECT_FALSE(header_of("training_args.bin", torch_zip(torch_parts(pickle::whole(pickle::dict(pickle::text("lr") + pickle::number(1))), {}))));
  EXPECT_FALSE(header_of("scheduler.pt", torch_legacy(pickle::dict(pickle::text("lr") + pickle::number(1)), {})));
}

TEST(WeightFile, ATorchFileThatIsCutHasAProblem) {
  for (const std::string& file :
       {std::string("PK\x03\x04", 4), "PK\x03\x04" + std::string(5000, 'x'), std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15)}) {
    const auto header = header_of("pytorch_model.bin", file);
    ASSERT_TRUE(header) << file.size();
    EXPECT_EQ(header->format, WeightFormat::torch);
    EXPECT_TRUE(header->problem) << file.size();
    EXPECT_TRUE(header->tensors.empty());
  }
}

TEST(WeightFile, AReaderThatFailsIsAnError) {
  const ReadAt failing = [](std::uint64_t, std::span<std::uint8_t>) -> Result<std::size_t> { return fail(ErrorCode::io, "no such luck"); };
  for (const char* name : {"a.safetensors", "a.gguf", "a.bin"}) EXPECT_FALSE(read_weight_header(name, 1000, failing)) << name;
}

}  // namespace
}  // namespace vouchfs::formats::test
