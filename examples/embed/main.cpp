// embed MODEL FILE: writes one file of a sealed model to stdout, every byte verified, without FUSE.
#include <cstdio>
#include <optional>
#include <string>

#include "vouchfs/view/sealed_model.h"

namespace {

int explain(const vouchfs::Error& error) {
  std::fprintf(stderr, "embed: %s\n", error.describe().c_str());
  return error.code == vouchfs::ErrorCode::corrupt || error.code == vouchfs::ErrorCode::truncated ? 3 : 1;
}

int copy_out(vouchfs::view::SealedModel& model, const std::string& path) {
  const auto file = model.find(path);
  if (!file) return explain(vouchfs::make_error(vouchfs::ErrorCode::not_found, "not a file of this model", path));
  const std::uint64_t bytes = model.seal().manifest.files[*file].bytes;
  vouchfs::AlignedBuffer buffer;
  for (std::uint64_t at = 0; at < bytes;) {
    const auto part = model.read(*file, at, 1U << 20, buffer, {});
    if (!part) return explain(part.error());
    if (std::fwrite(part->data(), 1, part->size(), stdout) != part->size()) return 1;
    at += part->size();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: embed MODEL FILE\n", stderr), 2;
  vouchfs::view::Runtime runtime(vouchfs::hash::choose_engine(std::nullopt).engine);
  auto model = vouchfs::view::SealedModel::open({.model_dir = argv[1]}, runtime);
  return model ? copy_out(**model, argv[2]) : explain(model.error());
}
