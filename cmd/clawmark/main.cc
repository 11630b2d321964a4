// clawmark: looks into the memory, and changes it, from a shell. The one file that knows the
// argument parser.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/logging.h"
#include "base/sqlite_version.h"
#include "cmd/clawmark/outward.h"
#include "cmd/clawmark/reference.h"
#include "cmd/config_flags.h"
#include "cmd/version.h"
#include "serve/metrics.h"

namespace clawmark {
namespace {

class CliArguments final : public Arguments {
 public:
  explicit CliArguments(CLI::App* app) : app_(app) {}
  void text(const char* name, std::string& value, const char* help, bool required) override {
    app_->add_option(name, value, help)->required(required);
  }
  void number(const char* name, std::int64_t& value, std::int64_t min, std::int64_t max,
              const char* help) override {
    app_->add_option(name, value, help)->check(CLI::Range(min, max));
  }
  void flag(const char* name, bool& value, const char* help) override {
    app_->add_flag(name, value, help);
  }
  CLI::App* app() const { return app_; }

 private:
  CLI::App* app_;
};

class CliRegistry final : public Registry {
 public:
  explicit CliRegistry(CLI::App& app) : app_(app) {}

  Arguments& add(const char* name, const char* help, Run run) override {
    const std::string full(name);
    const auto blank = full.find(' ');
    CLI::App* parent =
        blank == std::string::npos ? &app_ : app_.get_subcommand(full.substr(0, blank));
    CLI::App* sub =
        parent->add_subcommand(blank == std::string::npos ? full : full.substr(blank + 1), help);
    sub->fallthrough();
    sub->footer("Example:  " + std::string(example_of(full)));
    commands_.emplace_back(std::make_unique<CliArguments>(sub), std::move(run));
    return *commands_.back().first;
  }

  void add_group(const char* name, const char* help) override {
    CLI::App* group = app_.add_subcommand(name, help)->require_subcommand(1)->fallthrough();
    group->footer("Example:  " + std::string(example_of(name)));
  }

  int run(Session& session) const {
    for (const auto& [arguments, run] : commands_) {
      if (arguments->app()->parsed()) return run(session);
    }
    return kExitUsage;
  }

 private:
  CLI::App& app_;
  std::vector<std::pair<std::unique_ptr<CliArguments>, Run>> commands_;
};

// What only the parser itself can tell.
void add_reference(Registry& registry, const CLI::App& app) {
  struct Options {
    std::string shell;
    bool markdown = false, metrics = false;
  };
  auto options = std::make_shared<Options>();
  registry
      .add("completion", "completions for a shell: bash, zsh or fish",
           [options, &app](Session&) {
             const std::string script = completion_of(app, options->shell);
             if (script.empty()) {
               std::fprintf(stderr, "clawmark: completion is there for bash, zsh and fish\n");
               return static_cast<int>(kExitUsage);
             }
             std::printf("%s", script.c_str());
             return static_cast<int>(kExitOk);
           })
      .text("shell", options->shell, "bash, zsh or fish", true);
  Arguments& manual =
      registry.add("manual", "this program's manual page (roff)", [options, &app](Session&) {
        const std::string page = options->metrics    ? metrics_page()
                                 : options->markdown ? reference_of(app)
                                                     : manual_of(app);
        std::printf("%s", page.c_str());
        return static_cast<int>(kExitOk);
      });
  manual.flag("--markdown", options->markdown, "as docs/reference.md");
  manual.flag("--metrics", options->metrics, "docs/metrics.md: what GET /metrics tells");
}

void add_all(Registry& registry) {
  add_status(registry);
  add_search(registry);
  add_facts(registry);
  add_set(registry);
  add_forget(registry);
  add_review(registry);
  add_reconcile(registry);
  add_inject(registry);
  add_events(registry);
  add_parked(registry);
  add_rebuild(registry);
  add_verify(registry);
  add_doctor(registry);
  add_config(registry);
  add_restore(registry);
  add_graph(registry);
  add_episodes(registry);
  add_files(registry);
  add_history(registry);
  add_explain(registry);
  add_expand(registry);
  add_unmerge(registry);
  add_dissolve(registry);
  add_mcp(registry);
  add_backup(registry);
  add_moving(registry);
  add_init(registry);
  add_uninstall(registry);
  add_tui(registry);
  add_web(registry);
}

int run_command_line(int argc, char** argv) {
  CLI::App app{"Clawmark: a memory for OpenClaw agents", "clawmark"};
  app.set_version_flag("--version", "clawmark " + std::string(version_text()) + "\nSQLite " +
                                        std::string(sqlite_version()));
  app.require_subcommand(1);
  Globals globals;
  app.add_flag("--json", globals.json, "print the answer as JSON");
  app.add_option(
      "--as", globals.as,
      "through whose eyes: agent, owner, a person (telegram:101), group:KEY, session:KEY");
  app.add_option("--agent", globals.agent, "which agent (default main)");
  app.add_option("--session-key", globals.session_key,
                 "the host's key of the conversation to stand in");
  add_config_flags(app, globals.config_file, globals.flags);
  CliRegistry registry(app);
  add_all(registry);
  add_reference(registry, app);
  // Whoever asked for JSON gets it, also when the rest of the line is wrong.
  const bool as_json = std::any_of(
      argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
  const auto refuse = [&](const CLI::ParseError& error) {
    if (as_json && error.get_exit_code() != 0) {
      std::printf(
          "%s\n",
          to_text(json::object{{"error", json::object{{"code", "usage"},
                                                      {"message", std::string(error.what())}}}})
              .c_str());
    }
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const auto unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty()) {
      globals.json = as_json;
      return Session(globals).fail(make_error(
          ErrorKind::kInvalid, "cli", "usage",
          "there is no command `" + unknown.front() + "`; `clawmark --help` lists them"));
    }
    return refuse(error);
  } catch (const CLI::ParseError& error) {
    return refuse(error);
  }
  set_log_level(LogLevel::kError);
  Session session(globals);
  return registry.run(session);
}

}  // namespace
}  // namespace clawmark

int main(int argc, char** argv) {
  return clawmark::run_command_line(argc, argv);
}
