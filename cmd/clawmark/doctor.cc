// clawmark doctor: named checks, each with what to do. Changes nothing without --fix. Exit code 1
// when a check is red.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"
#include "cmd/doctor_checks.h"

namespace clawmark {
namespace {

constexpr std::int64_t kFixMs = 3'600'000;

// What can be put right without a decision: rights of files, and what differs from the log or can
// be made again from it and from the host's history. Everything else needs its owner.
void fix(Session& session) {
  for (const auto& done : fix_permissions(session.config()))
    std::fprintf(stderr, "%s\n", done.c_str());
  const auto mended = session.ask("verify", json::object{{"mend", true}}, Access::kWrite, kFixMs);
  if (!mended.ok()) {
    std::fprintf(stderr, "verify: %s\n", mended.error().message.c_str());
    return;
  }
  for (const char* list : {"notes", "mended"}) {
    const auto* lines = find_array(*mended, list);
    for (const auto& line : lines != nullptr ? *lines : json::array()) {
      if (line.is_string()) std::fprintf(stderr, "%s\n", line.get_string().c_str());
    }
  }
}

int doctor(Session& session, bool fixing) {
  if (fixing) fix(session);
  DoctorInputs inputs;
  inputs.config = &session.config();
  inputs.config_file = session.globals().config_file;
  if (session.daemon_answers()) {
    if (auto status = session.get("/v1/status"); status.ok()) inputs.status = *std::move(status);
  }
  const auto checks = run_doctor(inputs);
  bool red = false;
  json::array rows;
  for (const auto& check : checks) {
    red = red || check.state == CheckState::kBad;
    rows.push_back(json::object{{"name", check.name},
                                {"state", to_string(check.state)},
                                {"message", check.message},
                                {"remedy", check.remedy}});
  }
  if (session.globals().json) {
    std::printf("%s\n", to_text(json::object{{"ok", !red}, {"checks", std::move(rows)}}).c_str());
  } else {
    for (const auto& check : checks) {
      std::printf("%-5s %-14s %s\n", std::string(to_string(check.state)).c_str(),
                  check.name.c_str(), check.message.c_str());
      if (!check.remedy.empty()) std::printf("      %-14s → %s\n", "", check.remedy.c_str());
    }
  }
  return red ? kExitFailed : kExitOk;
}

}  // namespace

void add_doctor(Registry& registry) {
  auto fixing = std::make_shared<bool>(false);
  Arguments& arguments =
      registry.add("doctor", "named checks, each with what to do",
                   [fixing](Session& session) { return doctor(session, *fixing); });
  arguments.flag("--fix", *fixing,
                 "close files to others, and make again what differs from the log or is missing");
}

}  // namespace clawmark
