// Loader texts are those of the file's own loaders.
#include "doctor/loader_texts.h"

#include <gmock/gmock.h>

#include "doctor/catalogue.h"

namespace vouchfs::doctor {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const char* code, const char* file) { return texts_for(file, find_code(code)->loader); }

TEST(LoaderTexts, AreThoseOfTheFormatThatTheNamePromises) {
  EXPECT_THAT(texts("lfs.pointer", "a/model.safetensors"),
              ElementsAre("Error while deserializing header: header too large", "Error while deserializing header: HeaderTooLarge"));
  EXPECT_THAT(texts("lfs.pointer", "pytorch_model.bin"), ElementsAre("invalid load key, 'v'.", "Weights only load failed. … Unsupported operand 118"));
  EXPECT_THAT(texts("lfs.pointer", "model.gguf"), ElementsAre("invalid magic characters: 'vers'"));
}

TEST(LoaderTexts, AreAllOfThemWhenTheNamePromisesNothing) {
  EXPECT_EQ(texts("lfs.pointer", "blobs/sha256-00").size(), find_code("lfs.pointer")->loader.size());
}

TEST(LoaderTexts, ThatAnyProgramPrintsAreKept) { EXPECT_THAT(texts("link.loop", "model.gguf"), ElementsAre("Too many levels of symbolic links")); }

TEST(LoaderTexts, OfAnEmptyFileAreKnownForEveryFormat) {
  for (const char* file : {"model.safetensors", "model.bin", "model.gguf", "config.json"}) EXPECT_FALSE(texts("file.empty", file).empty()) << file;
}

}  // namespace
}  // namespace vouchfs::doctor
