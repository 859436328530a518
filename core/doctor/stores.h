// stores.h: what is wrong with a cache or store as such, whichever of its models are looked at.
// Layer: core/doctor (5). Internal; diagnose() calls it once a PATH, beside the checks of each model.
// Cost:  names, sizes and small files; no blob is read.
#pragma once

#include <string>
#include <vector>

#include "doctor/checks.h"
#include "publisher/place.h"

namespace vouchfs::doctor {

// Adds what concerns PATH and none of `places`: refs, unfinished downloads that belong to no snapshot, blobs that nothing names. Files are relative to PATH.
void check_stores(const std::string& path, const std::vector<publisher::Place>& places, Findings& findings);

// A place that find_models gives for a model of which nothing could be found but its name: a cache folder without a snapshot, a broken manifest.
// There is nothing to gather; model_checks() of empty facts say what is wrong.
bool is_hollow(const publisher::Place& place);

// A path is on a mount whose daemon has ended: the finding that says so.
Finding dead_mount(const std::string& path);

// hub_store.cpp: one folder models--org--name. `prefix` is put before names within it: "", "models--org--name/", "../../".
// `of_snapshot`: only this snapshot was asked about, so that trouble of refs is no more than a warning.
void check_hub_folder(const std::string& cache_dir, const std::string& prefix, bool of_snapshot, Findings& findings);
// ollama_store.cpp: partial and unused blobs of a store.
void check_ollama_store(const std::string& store_dir, const std::string& prefix, Findings& findings);

}  // namespace vouchfs::doctor
