// doctor.h: diagnoses a model, a file, a cache or a store: what is wrong, why, and what to do. Nothing is ever written.
// Layer:   core/doctor (5).
// Errors:  not_found and io for PATH itself; cancelled. Everything about the files below it is a finding.
// Cost:    headers only: under two seconds for a model of 100 GB on a local disk; with `deep` one read of every byte.
#pragma once

#include "doctor/deep.h"
#include "doctor/finding.h"

namespace vouchfs::doctor {

struct DoctorOptions {
  GatherOptions gather;
  bool deep = false;
  unsigned jobs = 0;  // 0: one a core
};

struct Report {
  std::string path;               // as given
  std::vector<Finding> findings;  // worst first: errors, warnings, notes; then by file and offset
  Verdict verdict = Verdict::whole;
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  std::uint64_t notes = 0;
  std::uint64_t models = 0;  // looked at: more than one for a cache or a store
  std::uint64_t files = 0;
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> needs;  // "safetensors >= 0.6": whole only for such readers
};

// A PATH that diagnose() could not look at.
struct Unexamined {
  std::string path;  // as given
  Error error;
};

// PATH: a model folder, one file, models--org--name, a whole Hugging Face cache (hub/), an Ollama store, a folder of models, or ollama:NAME:TAG.
Result<Report> diagnose(const std::string& path, const DoctorOptions& options, const std::shared_ptr<const hash::Sha256Engine>& engine, DeepProgress& progress,
                        const CancelFlag& cancel);

// The models below PATH: itself, or each one of a cache or store.
Result<std::vector<publisher::Place>> find_models(const std::string& path, const std::optional<std::string>& revision);

// One screen for a terminal: worst finding first, then the verdict. `width`: columns.
std::string to_text(const Report& report, std::size_t width);
// GitHub workflow commands ("::error file=…"), one line a finding, and a line with the verdict.
std::string to_annotations(const Report& report);
std::string to_annotation(const Unexamined& path);
// One JUnit test suite a report: a test case a finding, and one for the verdict. A PATH that was not examined: a suite with one case, an error.
std::string to_junit(const std::vector<Report>& reports, const std::vector<Unexamined>& unexamined = {});

}  // namespace vouchfs::doctor
