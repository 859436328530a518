// `vouchfs digest`: the line of `fsverity digest` for files, the model digest for the directory of a sealed model.
#include <fcntl.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/units.h"
#include "merkle/digest_file.h"
#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "publisher/place.h"
#include "seal/seal_directory.h"

namespace vouchfs::mount_tools {
namespace {

using EnginePtr = std::shared_ptr<const hash::Sha256Engine>;

constexpr std::string_view kOllama = "ollama:";

struct Options {
  std::vector<std::string> paths;
  std::string algorithm = "sha256";
  std::uint64_t block_bytes = kBlockBytes;
  std::string salt;
  bool compact = false;
};

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::vector<std::uint8_t>> parse_salt(const std::string& text) {
  std::vector<std::uint8_t> salt;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
    if (high < 0 || low < 0) return fail(ErrorCode::invalid_argument, "'" + text + "' is no salt", {}, "give pairs of hex digits");
    salt.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return salt;
}

Result<merkle::Parameters> parameters_of(const Options& options) {
  merkle::Parameters parameters;
  parameters.algorithm = options.algorithm == "sha512" ? merkle::Algorithm::sha512 : merkle::Algorithm::sha256;
  parameters.block_bytes = options.block_bytes;
  VOUCHFS_ASSIGN(parameters.salt, parse_salt(options.salt));
  return parameters;
}

Result<std::string> digest_of_model(const std::string& path, const EnginePtr& engine) {
  VOUCHFS_ASSIGN(const publisher::Place place, publisher::locate_place(path));
  VOUCHFS_ASSIGN(const seal::OpenedSeal seal, seal::open_seal(place.default_seal_dir, std::nullopt, *engine));
  return hash::to_text(seal.model_digest);
}

Result<std::string> digest_of(const std::string& path, const merkle::Parameters& parameters, const EnginePtr& engine) {
  if (path.compare(0, kOllama.size(), kOllama) == 0) return digest_of_model(path, engine);
  VOUCHFS_ASSIGN(const UniqueFd fd, open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, path));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(errno_error(errno, "cannot stat", path));
  if (S_ISDIR(info.st_mode)) return digest_of_model(path, engine);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::invalid_argument, "is no regular file", path);
  std::uint64_t at = 0;
  const auto read = [&](std::span<std::uint8_t> dst) -> Result<std::size_t> {
    VOUCHFS_ASSIGN(const std::size_t got, read_full(fd.get(), at, dst, path));
    at += got;
    return got;
  };
  auto digest = merkle::digest_stream(static_cast<std::uint64_t>(info.st_size), parameters, read, engine);
  if (!digest && digest.error().where.file.empty()) digest.error().where.file = path;
  return digest;
}

ExitCode run_digest(const Options& options, Output& output) {
  const auto parameters = parameters_of(options);
  if (!parameters) return failed(output, parameters.error());
  const EnginePtr engine = chosen_engine(output);
  ExitCode worst = ExitCode::ok;  // every file gets its line, as with sha256sum; the first failure decides the exit code
  for (const std::string& path : options.paths) {
    const auto digest = digest_of(path, *parameters, engine);
    if (!digest) {
      const ExitCode code = failed(output, digest.error());
      if (worst == ExitCode::ok) worst = code;
      continue;
    }
    output.result(options.compact ? digest->substr(digest->find(':') + 1) : *digest + " " + path);
    output.record({{"type", "digest"}, {"digest", *digest}, {"path", path}});
  }
  return worst;
}

}  // namespace

Run add_digest(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("path", options->paths, "files, directories of sealed models, or ollama:NAME:TAG")->required()->type_name("FILE|MODEL");
  app.add_option("--hash-alg", options->algorithm, "sha256 or sha512")->check(CLI::IsMember({"sha256", "sha512"}))->capture_default_str();
  app.add_option("--block-size", options->block_bytes, "bytes of a block, a power of two")->capture_default_str()->type_name("BYTES");
  app.add_option("--salt", options->salt, "salt, at most 32 bytes")->type_name("HEX");
  app.add_flag("--compact", options->compact, "print only the digest in hex");
  return [options](Output& output) { return run_digest(*options, output); };
}

}  // namespace vouchfs::mount_tools
