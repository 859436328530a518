// torch_probe FILE...: what the reader of torch files says of each, one JSON object a line, for comparison with torch itself.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/unique_fd.h"
#include "formats/torch_file.h"

using namespace vouchfs;
using Json = nlohmann::ordered_json;

namespace {

Json rows(const std::vector<formats::Tensor>& tensors) {
  Json list = Json::array();
  for (const formats::Tensor& tensor : tensors)
    list.push_back({{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"begin", tensor.begin}, {"end", tensor.end}});
  return list;
}

Json faults_of(const formats::TorchFile& file) {
  Json list = Json::array();
  for (const formats::HeaderProblem& fault : file.faults)
    list.push_back({{"name", fault.name}, {"text", fault.text}, {"detail", fault.detail}, {"tensor", fault.tensor}, {"offset", fault.offset}});
  return list;
}

Json described(const formats::TorchFile& file) {
  Json json{{"form", file.form == formats::TorchForm::zip ? "zip" : "legacy"}, {"tensors", rows(file.tensors)}, {"claimed", rows(file.claimed)}};
  for (const formats::TorchRecord& record : file.records)
    json["records"].push_back({{"name", record.name},
                               {"begin", record.begin},
                               {"bytes", record.bytes},
                               {"crc32", record.crc32},
                               {"usable", record.usable},
                               {"stored", record.stored}});
  json["globals"] = Json::array();
  for (const formats::PickleGlobal& global : file.globals)
    json["globals"].push_back({{"name", global.module + "." + global.name}, {"allowed", global.allowed}, {"offset", global.offset}});
  json["torchscript"] = file.torchscript;
  json["checksums"] = file.checksums;
  json["restricted_opcode"] = file.restricted_opcode ? Json(*file.restricted_opcode) : Json();
  json["problem"] = file.problem ? Json(file.problem->name) : Json();
  json["faults"] = faults_of(file);
  return json;
}

int probe(const char* path) {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd.valid()) return std::perror(path), 1;
  if (::fstat(fd.get(), &status) != 0) return std::perror(path), 1;
  const auto file =
      formats::read_torch_file(static_cast<std::uint64_t>(status.st_size), [&](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
        const ssize_t got = ::pread(fd.get(), dst.data(), dst.size(), static_cast<off_t>(offset));
        if (got < 0) return fail(errno_error(errno, "cannot read", path));
        return static_cast<std::size_t>(got);
      });
  if (!file) return std::fprintf(stderr, "%s\n", file.error().describe().c_str()), 1;
  std::puts(described(*file).dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (const int status = probe(argv[i]); status != 0) return status;
  return 0;
}
