// sample_facts.h: models for tests of doctor's checks: facts by hand, or gathered from a scratch folder.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/checks.h"
#include "doctor/doctor.h"
#include "publisher/place.h"
#include "unit/base/oracle.h"

namespace vouchfs::doctor::test {

namespace stdfs = std::filesystem;

inline FileFacts file_of(const std::string& path, std::uint64_t bytes) {
  FileFacts file;
  file.path = path;
  file.bytes = bytes;
  file.kind.kind = formats::FileKind::binary;
  return file;
}

// Files must come sorted by path.
inline ModelFacts model_of(std::vector<FileFacts> files) {
  ModelFacts model;
  model.files = std::move(files);
  return model;
}

inline std::vector<Finding> run(void (*check)(const ModelFacts&, Findings&), const ModelFacts& model) {
  Findings findings;
  check(model, findings);
  return std::move(findings).take();
}

// "error gguf.truncated model.gguf", one a finding.
inline std::vector<std::string> said(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) lines.push_back(std::string(to_string(finding.severity)) + " " + finding.code + " " + finding.file);
  return lines;
}

class ScratchFolder {
 public:
  ScratchFolder() { stdfs::create_directory(path()); }
  std::string path(const std::string& name = "") const { return name.empty() ? folder_.path("top") : folder_.path("top") + "/" + name; }
  void put(const std::string& name, const std::string& bytes = "") const {
    stdfs::create_directories(stdfs::path(path(name)).parent_path());
    std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
    file << bytes;
    file.close();
    if (!file) ADD_FAILURE() << "cannot write " << path(name);
  }
  void link(const std::string& name, const std::string& target) const {
    stdfs::create_directories(stdfs::path(path(name)).parent_path());
    stdfs::create_symlink(target, path(name));
  }
  ModelFacts gather() const {
    const CancelFlag cancel;
    auto model = doctor::gather(publisher::folder_place(path()), {}, cancel);
    if (model) return *std::move(model);
    ADD_FAILURE() << model.error().describe();
    return {};
  }
  // The whole of doctor on the folder, or on something below it.
  Report diagnose(const std::string& below = "", bool deep = false) const {
    DoctorOptions options;
    options.deep = deep;
    DeepProgress progress;
    const CancelFlag cancel;
    auto report = doctor::diagnose(path(below), options, hash::make_openssl_engine(), progress, cancel);
    if (report) return *std::move(report);
    ADD_FAILURE() << report.error().describe();
    return {};
  }

 private:
  vouchfs::test::TemporaryFolder folder_;
};

}  // namespace vouchfs::doctor::test
