// Published and confirmed fs-verity digests: fsverity-utils, xfstests, composefs.
#include <gtest/gtest.h>

#include <optional>

#include "unit/base/oracle.h"
#include "unit/merkle/pattern.h"

namespace vouchfs::merkle {
namespace {

struct Vector {
  const char* name;
  std::vector<std::uint8_t> bytes;
  Parameters parameters;
  const char* digest;
};

void PrintTo(const Vector& vector, std::ostream* out) { *out << vector.name; }

std::vector<std::uint8_t> salt_0x30_to_0x4f() {
  std::vector<std::uint8_t> salt;
  for (std::uint8_t byte = 0x30; byte < 0x50; ++byte) salt.push_back(byte);
  return salt;
}

Parameters with(std::uint64_t block_bytes, std::vector<std::uint8_t> salt = {}, Algorithm algorithm = Algorithm::sha256) {
  return {algorithm, block_bytes, std::move(salt)};
}

std::vector<Vector> vectors() {
  using test::bytes_of;
  using test::pattern;
  return {
      {"Empty", {}, {}, "sha256:3d248ca542a24fc62d1c43b916eae5016878e2533c88238480b26128a1f1af95"},
      {"Pattern1", pattern(1), {}, "sha256:b803429503d95915829b29fdbc8bbad142f3abfd11b1cadf5526582e685c0551"},
      {"Pattern4096", pattern(4096), {}, "sha256:6ac39979016e3ddf3d39fff6cb984f7c118acdf1852919f5c100c4b142c1818e"},
      {"Pattern100000", pattern(100'000), {}, "sha256:f2096a36c5cdca4fa33ee8852833150bb324992e5417a9d571f1bffff73b9efc"},
      {"Pattern1000000", pattern(1'000'000), {}, "sha256:48df0c462329cd879661bd05b39aa81b05cc16afd27a7196a559da83531d39d9"},
      {"SaltAbcd", pattern(1'000'000), with(4096, bytes_of("abcd")), "sha256:917900b0d299454aa304d5debc6f39e4af7b5abe33bdbc568d5d8f1e5c4d8652"},
      {"SaltOf32", pattern(1'000'000), with(4096, salt_0x30_to_0x4f()), "sha256:bc2d70324c048c220a2cb190832140863eb268e680427939e5d467bea5ec5ad9"},
      {"Blocks512", pattern(1'000'000), with(512), "sha256:0393ee3dfd4a28966e2af4e07cfa5b032c30da5bb8e8ef63b9a55bf963262334"},
      {"Blocks1024", pattern(1'000'000), with(1024), "sha256:e9df927c14fcb961d5f51c666d8ae4c14fe4ff98a374c733e898d00c9e74a8e3"},
      {"Blocks65536", pattern(1'000'000), with(65536), "sha256:f3b6418f26d4d0e74728193bae76f15cb4bb2ce9777448d76bd8138b69ec61c2"},
      {"Sha512SaltAbcd", pattern(1'000'000), with(4096, bytes_of("abcd"), Algorithm::sha512),
       "sha512:8425c6d0c94f84ed904c12936845fbb7af9953753789712dcc3be142db3d4b6b47a399ad52aa609256ce29a960bf4bb0e595ec386ca58c06519d546dc5b197bb"},
      {"Zeros100000Blocks1024", std::vector<std::uint8_t>(100'000), with(1024), "sha256:09cbbaeed2a04c2da242c10e1568d96f358a16aa1ebe8cf0286120c13c9366d1"},
      {"HelloWorldLine", bytes_of("hello world\n"), {}, "sha256:37061ef2ac4c21bec68489b56138c5780306a4ad7fe6676236ecdf2c9027cd92"},
      {"FooBarBazLine", bytes_of("foo bar baz\n"), {}, "sha256:91e7d88cb7bc9cf6d8db3b0ecf89af4abf204bef5b3ade5113d5b62ef374e70b"},
      {"HelloWorld", bytes_of("hello world"), {}, "sha256:1e2eaa4202d750a41174ee454970b92c1bc2f925b1e35076d8c7d5f56362ba64"},
  };
}

class FsVerityVector : public testing::TestWithParam<Vector> {};

TEST_P(FsVerityVector, IsReproduced) { EXPECT_EQ(test::digest_of(GetParam().bytes, GetParam().parameters), GetParam().digest); }

INSTANTIATE_TEST_SUITE_P(Published, FsVerityVector, testing::ValuesIn(vectors()), [](const auto& instance) { return std::string(instance.param.name); });

// Sizes at the first level edge, confirmed with fsverity 1.5; only the ends of these digests were written down.
TEST(FsVerityVectors, LevelEdgesOfThePattern) {
  const auto expect = [](std::size_t size, const std::string& begin, const std::string& end) {
    const std::string digest = test::digest_of(test::pattern(size));
    EXPECT_EQ(digest.substr(0, 7 + begin.size()), "sha256:" + begin) << size;
    EXPECT_EQ(digest.substr(digest.size() - end.size()), end) << size;
  };
  expect(4095, "5ac62f06", "c439");
  expect(4097, "e730e89a", "2f3");
  expect(524288, "318d7f64", "dda4");
  expect(524289, "e21e7d7f", "cf1");
}

// xfstests generic/575: files of zeros, two block sizes, two algorithms: 20 digests. Each must be the fsverity tool's, and those whose
// start was written down must start so.
struct ZeroFile {
  std::uint64_t bytes;
  std::optional<std::string> salt;  // hex; "" is a salt of no bytes
  const char* start_1024;           // of the SHA-256 digest, without the algorithm
  const char* start_4096;
};

std::vector<std::uint8_t> from_hex(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

void expect_as_the_tool_says(const ZeroFile& file, const std::string& path, std::uint64_t block_bytes, Algorithm algorithm) {
  const bool sha512 = algorithm == Algorithm::sha512;
  std::vector<std::string> tool = {"fsverity", "digest", "--block-size=" + std::to_string(block_bytes),
                                   std::string("--hash-alg=") + (sha512 ? "sha512" : "sha256")};
  if (file.salt) tool.push_back("--salt=" + *file.salt);
  tool.push_back(path);
  const std::string expected = test::first_word(test::run_tool(tool));
  EXPECT_EQ(test::digest_of(std::vector<std::uint8_t>(file.bytes), with(block_bytes, from_hex(file.salt.value_or("")), algorithm)), expected);
  const std::string start = sha512 ? "sha512:" : std::string("sha256:") + (block_bytes == 1024 ? file.start_1024 : file.start_4096);
  EXPECT_EQ(expected.substr(0, start.size()), start) << file.bytes << " bytes, blocks of " << block_bytes;
}

TEST(FsVerityVectors, Generic575) {
  const std::vector<ZeroFile> files = {{0, std::nullopt, "f2cca36b", "3d248ca5"},
                                       {4096, std::nullopt, "ea08590a", "babc284e"},
                                       {65536, std::nullopt, "52749628", "011e3f2b"},
                                       {65536, "", "52749628", "011e3f2b"},
                                       {100'000'000, "f3c93fa6fb828c0e1587e5714ecf6f56", "087818b2", "9d33cab7"}};
  const test::TemporaryFolder folder;
  const std::string path = folder.write("zeros", {});
  for (const ZeroFile& file : files) {
    std::filesystem::resize_file(path, file.bytes);
    for (const std::uint64_t block_bytes : {1024U, 4096U})
      for (const Algorithm algorithm : {Algorithm::sha256, Algorithm::sha512}) expect_as_the_tool_says(file, path, block_bytes, algorithm);
  }
}

}  // namespace
}  // namespace vouchfs::merkle
