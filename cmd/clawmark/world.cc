// clawmark restore, graph, episodes, files, explain, expand, unmerge, dissolve: the world model, as
// the agent would get it.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {
namespace {

int show(Session& session, std::string_view command, json::object params,
         Access access = Access::kRead) {
  const auto answer = session.ask(command, session.with_eyes(std::move(params)), access);
  return session.finish(answer, [](const json::object& found) {
    std::printf("%s\n", get_string(found, "text").c_str());
  });
}

struct Options {
  std::string text, type, at;
  std::int64_t depth = 0, limit = 0;
};

void set(json::object& params, const char* key, const std::string& value) {
  if (!value.empty()) params[key] = value;
}

}  // namespace

void add_restore(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments =
      registry.add("restore", "where things stand: tasks, decisions, what happened, what is old",
                   [options](Session& session) {
                     json::object params;
                     set(params, "focus", options->text);
                     set(params, "at", options->at);
                     return show(session, "restore", std::move(params));
                   });
  arguments.text("focus", options->text, "a thing or topic to look at more closely", false);
  arguments.text("--at", options->at,
                 "as of then: 2026-11-20, 2026-11-20T18:00:00Z or the number of an event", false);
}

void add_graph(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add(
      "graph", "things and their relations: all, one, or what is near it",
      [options](Session& session) {
        const bool one = !options->text.empty();
        json::object params{{"action", !one ? "list" : options->depth > 0 ? "traverse" : "node"}};
        set(params, "name", options->text);
        set(params, "nodeType", options->type);
        set(params, "at", options->at);
        if (options->depth > 0) params["depth"] = options->depth;
        if (options->limit > 0) params["limit"] = options->limit;
        return show(session, "graph", std::move(params));
      });
  arguments.text("name", options->text, "which thing", false);
  arguments.text("--type", options->type,
                 "project, component, decision, task, person, constraint, concept or file", false);
  arguments.number("--depth", options->depth, 1, 4, "walk so many steps from it");
  arguments.number("--limit", options->limit, 1, 100, "how many of the list (default 50)");
  arguments.text("--at", options->at,
                 "as of then: 2026-11-20, 2026-11-20T18:00:00Z or the number of an event", false);
}

void add_episodes(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add(
      "episodes", "what happened and matters, newest first", [options](Session& session) {
        json::object params{{"action", options->text.empty() ? "list" : "search"}};
        set(params, "query", options->text);
        set(params, "eventType", options->type);
        set(params, "at", options->at);
        if (options->limit > 0) params["limit"] = options->limit;
        return show(session, "episodes", std::move(params));
      });
  arguments.text("query", options->text, "only those about this", false);
  arguments.text("--type", options->type,
                 "decision, plan_change, blocker, breakthrough, completion or error", false);
  arguments.text("--at", options->at,
                 "as of then: 2026-11-20, 2026-11-20T18:00:00Z or the number of an event", false);
  arguments.number("--limit", options->limit, 1, 100, "how many at most");
}

void add_files(Registry& registry) {
  struct Asked : Options {
    std::int64_t from_line = 0, lines = 0, from_char = 0, chars = 0;
  };
  auto options = std::make_shared<Asked>();
  Arguments& arguments = registry.add(
      "files", "large contents of messages and files that were spoken of: all, or a range of one",
      [options](Session& session) {
        json::object params{{"action", options->text.empty() ? "list" : "get"}};
        set(params, "id", options->text);
        set(params, "at", options->at);
        const auto number = [&](const char* key, std::int64_t value) {
          if (value > 0) params[key] = value;
        };
        number("fromLine", options->from_line);
        number("lines", options->lines);
        number("fromChar", options->from_char);
        number("chars", options->chars);
        number("limit", options->limit);
        return show(session, "files", std::move(params));
      });
  arguments.text("id", options->text, "which: lf_… as the list has it, or a file's name", false);
  arguments.number("--from-line", options->from_line, 1, INT64_MAX, "from this line on");
  arguments.number("--lines", options->lines, 1, 2000, "so many lines (default 200)");
  arguments.number("--from-char", options->from_char, 1, INT64_MAX, "from this character on");
  arguments.number("--chars", options->chars, 100, 12'000, "so many characters");
  arguments.number("--limit", options->limit, 1, 50, "how many of the list");
  arguments.text("--at", options->at,
                 "as of then: 2026-11-20, 2026-11-20T18:00:00Z or the number of an event", false);
}

void add_explain(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add(
      "explain", "why: from a line of a prompt or an answer to the messages it rests on",
      [options](Session& session) {
        json::object params;
        set(params, "line", options->text);
        return show(session, "explain", std::move(params));
      });
  arguments.text(
      "line", options->text,
      "the line itself, or a fact's key, a message number, sum_42, lf_\u2026, a thing's name",
      true);
}

void add_expand(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments =
      registry.add("expand", "a summary with the messages it was made of, as they were said",
                   [options](Session& session) {
                     return show(session, "expand", json::object{{"summaryId", options->text}});
                   });
  arguments.text("summary", options->text, "its id, like sum_42", true);
}

void add_unmerge(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments =
      registry.add("unmerge", "undo that things were taken for one; without a name: what was",
                   [options](Session& session) {
                     json::object params;
                     set(params, "name", options->text);
                     return show(session, "unmerge", std::move(params),
                                 options->text.empty() ? Access::kRead : Access::kWrite);
                   });
  arguments.text("name", options->text, "either of their names", false);
}

void add_dissolve(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add(
      "dissolve", "take a summary of summaries apart, so that those below it stand again",
      [options](Session& session) {
        return show(session, "dissolve", json::object{{"summaryId", options->text}},
                    Access::kWrite);
      });
  arguments.text("summary", options->text, "its id, like sum_42", true);
}

}  // namespace clawmark
