// `vouchfs mount`: opens the seal, mounts the view, and serves it in the background or in front.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory_room.h"
#include "fs/mount_table.h"
#include "fs/session.h"
#include "mount_tools/background.h"
#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "mount_tools/mount_options.h"
#include "mount_tools/open_view.h"
#include "mount_tools/place_options.h"

namespace vouchfs::mount_tools {
namespace {

// A compromise: a random fault reads around by as much as this, a sequential reader wants more. Measured in tests/bench.
constexpr std::uint64_t kReadaheadKb = 1024;

struct Options {
  std::string model;
  std::string mount_point;
  std::string seal;
  std::string revision;
  std::optional<std::string> digest;  // an empty word is a digest too, and malformed: a script's empty variable must not unpin
  std::string on_known_bad;
  std::string tree_cache;
  std::vector<std::string> pin;
  std::string pin_limit;
  std::vector<std::string> lists;
  bool foreground = false;
};

struct Plan {
  view::ModelOptions model;
  fs::SessionOptions session;
  std::optional<std::uint64_t> tree_cache_bytes;  // by the size of the models when absent
};

bool covers(const std::string& mount_point, const std::string& path) { return path == mount_point || path.starts_with(mount_point == "/" ? "/" : mount_point + "/"); }

Status check_mount_point(const std::string& shown, const std::string& resolved) {
  const auto row = fs::find_mount(resolved);
  if (row && row->type == "fuse.vouchfs") return fail(ErrorCode::mount_failed, "is a mount of vouchfs already", shown, "end it first: vouchfs umount " + shown);
  struct stat info {};
  Error absent = errno_error(0, "cannot be used as a mount point", shown);
  absent.code = ErrorCode::mount_failed;
  if (::stat(resolved.c_str(), &info) != 0) {
    absent.sys_errno = errno;
    return fail(std::move(absent));
  }
  if (!S_ISDIR(info.st_mode)) return fail(ErrorCode::mount_failed, "is no folder", shown);
  return {};
}

Result<view::KnownBadPolicy> policy_of(const std::string& word) {
  if (word.empty() || word == "refuse") return view::KnownBadPolicy::refuse;
  if (word == "serve") return view::KnownBadPolicy::serve;
  return fail(ErrorCode::invalid_argument, "'" + word + "' is no policy for known-bad files", {}, "write refuse or serve");
}

std::string first_of(const std::string& flag, const std::optional<std::string>& listed) { return flag.empty() ? listed.value_or("") : flag; }

// Without a limit that is named: half of what there is, so that readers and their own memory have the other half.
Result<std::optional<view::PinRequest>> pin_request(const Options& options, const MountOptions& listed) {
  view::PinRequest request;
  for (const auto* globs : {&options.pin, &listed.pin})
    for (const std::string& glob : *globs)
      if (glob != "false") request.globs.push_back(glob == "true" ? "*" : glob);  // as a configuration file may say it
  const std::string limit = first_of(options.pin_limit, listed.pin_limit);
  if (!limit.empty()) {
    VOUCHFS_ASSIGN(request.limit_bytes, parse_bytes(limit));
  } else {
    request.limit_bytes = memory_room().value_or(0) / 2;
  }
  return request.globs.empty() ? std::nullopt : std::optional(std::move(request));
}

Result<Plan> make_plan(const Options& options) {
  std::string list;
  for (const std::string& part : options.lists) list += (list.empty() ? "" : ",") + part;
  VOUCHFS_ASSIGN(const MountOptions listed, parse_mount_options(list));
  Plan plan;
  VOUCHFS_ASSIGN(plan.model.policy, policy_of(first_of(options.on_known_bad, listed.on_known_bad)));
  const std::optional<std::string>& digest = options.digest ? options.digest : listed.digest;
  if (digest) {
    VOUCHFS_ASSIGN(plan.model.digest, hash::parse_text(*digest));
  }
  const std::string tree_cache = first_of(options.tree_cache, listed.tree_cache);
  if (!tree_cache.empty()) {
    VOUCHFS_ASSIGN(plan.tree_cache_bytes, parse_bytes(tree_cache));
  }
  const std::string seal = first_of(options.seal, listed.seal);
  if (!seal.empty()) plan.model.seal_dir = std::filesystem::absolute(seal).lexically_normal().string();
  VOUCHFS_ASSIGN(const publisher::Place place, publisher::locate_place(options.model, if_given(first_of(options.revision, listed.revision))));
  point_at(place, plan.model);
  std::error_code failed;
  const auto model = std::filesystem::canonical(place.model_dir, failed);
  if (!failed) plan.model.model_dir = model.string();
  plan.session.mount_point = fs::resolve_mount_point(options.mount_point);
  VOUCHFS_TRY(check_mount_point(options.mount_point, plan.session.mount_point));
  plan.model.mounted_over = covers(plan.session.mount_point, plan.model.model_dir) || (plan.model.seal_dir && covers(plan.session.mount_point, *plan.model.seal_dir));
  plan.session.source = place.kind == publisher::PlaceKind::ollama ? options.model : plan.model.model_dir;
  plan.session.allow_other = ::geteuid() == 0 || listed.allow_other;
  plan.session.extra = listed.kernel;
  plan.session.readahead_kb = kReadaheadKb;
  VOUCHFS_ASSIGN(plan.session.pin, pin_request(options, listed));
  return plan;
}

std::string summary_line(const view::MountView& view, const Plan& plan) {
  if (view.models().size() != 1) return std::to_string(view.models().size()) + " models on " + plan.session.mount_point;
  const std::string digest = hash::to_text(view.models().front()->seal().model_digest);
  return plan.session.source + " on " + plan.session.mount_point + ", " + digest +
         (plan.model.digest ? ", pinned" : ", as the seal on disk has it (pin it with --digest)");
}

void report(Output& output, const view::MountView& view, const Plan& plan) {
  output.note("vouchfs: " + summary_line(view, plan));
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const auto& model : view.models()) models.push_back({{"name", model->name()}, {"digest", hash::to_text(model->seal().model_digest)}});
  output.record({{"type", "summary"}, {"mount_point", plan.session.mount_point}, {"source", plan.session.source}, {"models", models}});
}

ExitCode serve(Output& output, view::MountView& view, const Plan& plan, const std::function<void()>& ready) {
  auto session = fs::Session::mount(view, plan.session);
  if (!session) return failed(output, session.error());
  const Status served = (*session)->serve([&] {
    ready();
    log::info("serving " + summary_line(view, plan));
  });
  return served ? ExitCode::ok : failed(output, served.error());
}

// A mount answers when a name in it can be looked up.
ExitCode check_answers(Output& output, const Plan& plan) {
  struct stat info {};
  const std::string probe = plan.session.mount_point + "/index.json";
  if (::stat(probe.c_str(), &info) == 0) return ExitCode::ok;
  Error error = errno_error(errno, "was mounted but does not answer", plan.session.mount_point);
  error.code = ErrorCode::mount_failed;
  return failed(output, error);
}

ExitCode run_mount(const Options& options, Output& output) {
  const auto plan = make_plan(options);
  if (!plan) return failed(output, plan.error());
  if (!output.quiet()) log::set_level(log::Level::info);
  view::Runtime runtime(chosen_engine(output));
  auto view = open_view(plan->model, runtime);
  if (!view) return failed(output, view.error());
  runtime.tree_cache.resize(plan->tree_cache_bytes.value_or(verify::TreeCache::usual_bytes((*view)->total_bytes())));
  if (options.foreground) return serve(output, **view, *plan, [&] { report(output, **view, *plan), output.flush(); });
  bool is_child = false;
  const ExitCode code = run_in_background(output, [&](const auto& ready) { return serve(output, **view, *plan, ready); }, is_child);
  if (is_child || code != ExitCode::ok) return code;
  report(output, **view, *plan);
  return check_answers(output, *plan);
}

}  // namespace

Run add_mount(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->model, "a sealed model, a folder of sealed models, or ollama:NAME:TAG")->required()->type_name("MODEL|STORE");
  app.add_option("mount-point", options->mount_point, "an existing folder")->required()->type_name("MOUNTPOINT");
  app.add_option("--seal", options->seal, "the seal lies in DIR instead of MODEL/.vouch")->type_name("DIR");
  app.add_option("--revision", options->revision, "of a models--ORG--NAME folder: a ref or commit; main when absent")->type_name("REV");
  app.add_option("--digest", options->digest, "accept only the seal with this model digest")->type_name("sha256:HEX");
  app.add_option("--on-known-bad", options->on_known_bad, "open() of a file with known-bad blocks: refuse (default) or serve")->type_name("refuse|serve");
  app.add_option("--tree-cache", options->tree_cache, "keep at most so much of the trees in memory; 1/128 of the models, 4M to 64M, when absent")
      ->type_name("SIZE");
  app.add_flag("--pin{*}", options->pin, "keep verified files in memory, those whose path matches GLOB or all; the kernel then serves them by itself (root)")
      ->type_name("[=GLOB]");
  app.add_option("--pin-limit", options->pin_limit, "pin at most so much; half of the memory that is available when absent")->type_name("SIZE");
  app.add_flag("-f,--foreground", options->foreground, "stay in front; SIGINT and SIGTERM unmount");
  app.add_option("-o", options->lists, "mount options, separated by commas; see mount.vouchfs(8)")->type_name("OPTS")->take_all()->allow_extra_args(false);
  return [options](Output& output) { return run_mount(*options, output); };
}

}  // namespace vouchfs::mount_tools
