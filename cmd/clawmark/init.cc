// clawmark init: looks what is there, says what would be read, spent and changed, and sets it up
// after asking. clawmark uninstall takes back exactly that.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/files.h"
#include "cmd/clawmark/outward.h"
#include "cmd/doctor_parts.h"
#include "cmd/setup/setup.h"
#include "cmd/survey.h"
#include "cmd/terminal.h"

namespace clawmark {
namespace {

struct InitOptions {
  bool yes = false, dry_run = false, no_plugin = false, no_service = false, skip_probe = false;
  std::string plugin_dir;
};

struct Step {
  SetupStep plan;
  std::string outcome;  // "todo", "same", "left", "done", "declined", "failed"
  std::string message;
};

bool confirmed(const std::string& question) {
  std::printf("%s [y/N] ", question.c_str());
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

void print_survey(const Config& config, const Survey& survey) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& carrier : survey.carriers) {
    rows.push_back({carrier.carrier, carrier.path, carrier.state, format_count(carrier.messages),
                    format_count(carrier.bytes / 1024) + " KiB"});
  }
  std::printf("Found in %s\n", config.state_dir.c_str());
  if (!rows.empty()) {
    std::fputs(format_table({"carrier", "path", "state", "messages", "text"}, rows).c_str(),
               stdout);
  }
  for (const auto& carrier : survey.carriers) {
    if (!carrier.message.empty())
      std::printf("%s: %s\n", carrier.path.c_str(), carrier.message.c_str());
  }
  if (survey.messages == 0) {
    std::printf("No messages yet; what comes will be read as it comes.\n");
  } else {
    std::printf("It would read %s messages once each, %s KiB of text, from %s to %s.\n",
                format_count(survey.messages).c_str(), format_count(survey.bytes / 1024).c_str(),
                format_date(survey.oldest, config.timezone).c_str(),
                format_date(survey.newest, config.timezone).c_str());
  }
  const BacklogEstimate& cost = survey.cost;
  if (cost.embed_tokens + cost.extract_tokens == 0) {
    std::printf("It would spend nothing: the models are built in.\n");
  } else {
    std::printf(
        "It would spend about %s tokens, %.2f USD, once; daily_tokens_max and daily_usd_max cap a "
        "day.\n",
        format_count(cost.embed_tokens + cost.extract_tokens).c_str(), cost.usd);
  }
}

void print_steps(const std::vector<Step>& steps) {
  std::printf("\nTo do\n");
  for (const Step& step : steps) {
    if (step.plan.state == StepState::kSame) {
      std::printf("  %-8s is as it should be\n", step.plan.name.c_str());
      continue;
    }
    std::string name = step.plan.name;
    for (const auto& action : step.plan.actions) {
      std::printf("  %-8s %s\n", name.c_str(), action.c_str());
      name.clear();
    }
    if (!step.plan.reason.empty())
      std::printf("  %-8s → %s\n", name.c_str(), step.plan.reason.c_str());
  }
}

// What the step does is in the receipt before it is done.
void do_step(Step& step) {
  auto before = read_receipt();
  if (!before.ok()) before = json::array();
  const Status done = step.plan.run([&](const json::object& record) {
    json::array receipt = *before;
    receipt.insert(receipt.begin(), record);
    return write_receipt(receipt);
  });
  step.outcome = done.ok() ? "done" : "failed";
  if (!done.ok()) step.message = done.error().message;
}

json::array steps_json(const std::vector<Step>& steps) {
  json::array out;
  for (const Step& step : steps) {
    json::array actions;
    for (const auto& action : step.plan.actions) actions.emplace_back(action);
    out.push_back(
        json::object{{"step", step.plan.name},
                     {"outcome", step.outcome},
                     {"actions", std::move(actions)},
                     {"message", step.message.empty() ? step.plan.reason : step.message}});
  }
  return out;
}

std::vector<Step> plan_all(const Session& session, const Config& config,
                           const InitOptions& options) {
  SetupInputs inputs{&config, session.globals().flags, options.plugin_dir};
  std::vector<SetupStep> plans{plan_config(inputs), plan_keys(inputs)};
  if (!options.no_plugin) plans.push_back(plan_plugin(inputs));
  if (!options.no_service) plans.push_back(plan_service(inputs));
  std::vector<Step> out;
  for (auto& plan : plans) {
    if (plan.name == "keys" && plan.state == StepState::kSame) continue;
    Step step{std::move(plan), "todo", ""};
    if (step.plan.state == StepState::kSame) step.outcome = "same";
    if (step.plan.state == StepState::kLeft) step.outcome = "left";
    out.push_back(std::move(step));
  }
  return out;
}

// The endpoints that the configuration names; false when one of them does not answer.
bool probe(const Config& config, json::array& rows, bool quiet) {
  std::vector<Check> checks;
  check_embedding(config, checks);
  check_extraction(config, checks);
  bool well = true;
  for (const auto& check : checks) {
    well = well && check.state != CheckState::kBad;
    rows.push_back(json::object{{"state", to_string(check.state)}, {"message", check.message}});
    if (!quiet)
      std::printf("%-5s %s\n", std::string(to_string(check.state)).c_str(), check.message.c_str());
  }
  return well;
}

int finish_init(const std::vector<Step>& steps, json::object answer, bool as_json, bool dry_run) {
  bool failed = false, left = false;
  for (const Step& step : steps) {
    failed = failed || step.outcome == "failed";
    left = left || step.outcome == "left";
  }
  answer["ok"] = !failed;
  answer["steps"] = steps_json(steps);
  answer["undo"] = "clawmark uninstall";
  if (as_json) {
    std::printf("%s\n", to_text(answer).c_str());
  } else if (!dry_run) {
    std::printf("\n");
    for (const Step& step : steps) {
      std::printf("%-8s %s%s%s\n", step.plan.name.c_str(), step.outcome.c_str(),
                  step.message.empty() ? "" : ": ", step.message.c_str());
    }
    const auto receipt = read_receipt();
    const bool undoable = !receipt.ok() || !receipt->empty();
    std::printf("\n`clawmark doctor` says whether all is well%s.\n",
                undoable ? "; `clawmark uninstall` undoes this" : "");
  } else {
    std::printf(
        "\nNothing was changed. Without --dry-run it is done after asking; `clawmark uninstall` "
        "then undoes it.\n");
  }
  if (failed) return kExitFailed;
  return left && !dry_run ? kExitWorkLeft : kExitOk;
}

int init(Session& session, const InitOptions& options) {
  const bool as_json = session.globals().json;
  if (!session.globals().config_file.empty()) {
    return session.fail(make_error(ErrorKind::kInvalid, "init", "config",
                                   "init writes " + join_path(config_folder(), "config.json") +
                                       "; give what shall be in it as flags, without --config"));
  }
  const Config& config = session.config();
  if (!config.problems.empty()) {
    for (const auto& problem : config.problems) std::fprintf(stderr, "%s\n", problem.c_str());
    return session.fail(make_error(ErrorKind::kInvalid, "init", "config",
                                   "the configuration is not right yet; nothing was changed"));
  }
  if (!stat_file(config.state_dir)) {
    return session.fail(
        make_error(ErrorKind::kInvalid, "init", "state_dir",
                   "there is no OpenClaw state folder at " + config.state_dir +
                       "; start OpenClaw once, or name its folder with --state-dir"));
  }
  const SystemClock clock;
  const Survey survey = survey_sources(config, clock);
  if (!as_json) print_survey(config, survey);
  json::array probes;
  const bool answers = options.skip_probe || probe(config, probes, as_json);
  json::object answer{{"ok", true}, {"dry_run", options.dry_run}, {"state_dir", config.state_dir}};
  answer["found"] = to_json(survey);
  answer["probes"] = std::move(probes);
  std::vector<Step> steps = plan_all(session, config, options);
  if (!as_json) print_steps(steps);
  if (options.dry_run) return finish_init(steps, std::move(answer), as_json, true);
  if (!answers) {
    return session.fail(make_error(ErrorKind::kFatal, "init", "endpoint",
                                   "an endpoint does not answer as it should; nothing was changed. "
                                   "Correct it, or go on with --skip-probe"));
  }
  const bool asking = !options.yes;
  if (asking && (as_json || ::isatty(STDIN_FILENO) == 0)) {
    return session.fail(make_error(ErrorKind::kInvalid, "init", "nobody_to_ask",
                                   "there is nobody to ask: add --yes to do what is listed, or "
                                   "--dry-run to only see it; nothing was changed"));
  }
  for (Step& step : steps) {
    if (step.outcome != "todo") continue;
    if (asking && !confirmed(step.plan.question)) {
      step.outcome = "declined";
      continue;
    }
    do_step(step);
    if (step.outcome == "failed") break;
  }
  return finish_init(steps, std::move(answer), as_json, false);
}

}  // namespace

void add_init(Registry& registry) {
  auto options = std::make_shared<InitOptions>();
  Arguments& arguments = registry.add(
      "init", "set Clawmark up: configuration, plugin and service, after showing what it would do",
      [options](Session& session) { return init(session, *options); });
  arguments.flag("--yes", options->yes, "do it without asking");
  arguments.flag("--dry-run", options->dry_run, "only show what it would read, spend and change");
  arguments.flag("--no-plugin", options->no_plugin, "leave OpenClaw's plugins alone");
  arguments.flag("--no-service", options->no_service, "install no service");
  arguments.flag("--skip-probe", options->skip_probe, "do not ask the configured endpoints");
  arguments.text("--plugin", options->plugin_dir,
                 "folder of the OpenClaw plugin (default: the one beside this program)", false);
}

}  // namespace clawmark
