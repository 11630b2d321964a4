// clawmark doctor: named checks, each with what to do. Changes nothing. Exit code 1 when a check is
// red.

#include <cstdio>

#include "cmd/clawmark/command.h"
#include "cmd/doctor_checks.h"

namespace clawmark {
namespace {

int doctor(Session& session) {
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
  registry.add("doctor", "named checks, each with what to do", doctor);
}

}  // namespace clawmark
