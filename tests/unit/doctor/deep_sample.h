// deep_sample.h: the whole of doctor on a model folder that an ingest may have sealed.
#pragma once

#include "unit/doctor/sample_facts.h"
#include "unit/ingest/model_folder.h"

namespace vouchfs::doctor::test {

inline Report doctor_of(const ingest::test::ModelFolder& folder, bool deep = true, unsigned jobs = 2) {
  DoctorOptions options;
  options.deep = deep;
  options.jobs = jobs;
  DeepProgress progress;
  const CancelFlag cancel;
  auto report = diagnose(folder.path(), options, hash::make_openssl_engine(), progress, cancel);
  EXPECT_TRUE(report) << report.error().describe();
  if (!report) return {};
  EXPECT_EQ(progress.bytes_done.load(), progress.bytes_total.load());
  return *std::move(report);
}

}  // namespace vouchfs::doctor::test
