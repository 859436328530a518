#include "doctor/checks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "doctor/catalogue.h"
#include "doctor/loader_texts.h"

namespace vouchfs::doctor {

void Findings::add(Finding finding) {
  if (const CodeFacts* facts = find_code(finding.code)) {
    // The catalogue holds the highest severity of a code; a check can only lower it.
    finding.severity = std::max(finding.severity, facts->severity);
    if (finding.loader.empty()) finding.loader = texts_for(finding.file, facts->loader);
    if (finding.advice.empty()) finding.advice = facts->advice;
  }
  if (finding.severity == Severity::error) with_error_.insert(finding.file);
  findings_.push_back(std::move(finding));
}

bool Findings::has_error(const std::string& shown_path) const { return with_error_.contains(shown_path); }

std::span<const Check> model_checks() {
  static constexpr std::array kChecks = {
      Check{"access", check_access},
      Check{"downloads", check_downloads},
      Check{"lfs_pointer", check_lfs_pointer},
      Check{"foreign_content", check_foreign_content},
      Check{"empty_file", check_empty_file},
      Check{"never_written", check_never_written},
      Check{"safetensors", check_safetensors},
      Check{"safetensors_notes", check_safetensors_notes},
      Check{"text_files", check_text_files},
      Check{"index", check_index},
      Check{"shards", check_shards},
      Check{"hub_cache", check_hub_cache},
      Check{"publisher_size", check_publisher_size},
      Check{"gguf", check_gguf},
      Check{"gguf_split", check_gguf_split},
      Check{"torch_container", check_torch_container},
      Check{"torch_globals", check_torch_globals},
      Check{"holes", check_holes},
      Check{"ollama", check_ollama},
      Check{"seal", check_seal},
      Check{"mount", check_mount},
      Check{"layouts", check_layouts},
      Check{"adapter", check_adapter},
      Check{"config", check_config},
      Check{"pipeline", check_pipeline},
  };
  return kChecks;
}

}  // namespace vouchfs::doctor
