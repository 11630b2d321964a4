// clawmark peek, grep, slice, timeline: the whole history, as the agent's rc_* tools show it.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {
namespace {

struct Options {
  std::int64_t offset = 0, length = 0, start = 0, end = 0, first_char = 0, limit = 0;
  std::string pattern, conversation, since, before, cursor, bucket;
  bool regex = false;
};

void put(json::object& params, const char* name, const std::string& value) {
  if (!value.empty()) params[name] = value;
}
void put(json::object& params, const char* name, std::int64_t value) {
  if (value > 0) params[name] = value;
}

int show(Session& session, const char* tool, json::object params) {
  const auto answer = session.ask(tool, session.with_eyes(std::move(params)), Access::kRead);
  return session.finish(answer, [](const json::object& found) {
    std::printf("%s\n", get_string(found, "text").c_str());
  });
}

constexpr char kConversation[] = "id or key of the conversation (default: all in sight)";

void add_peek(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments =
      registry.add("peek", "the newest messages of the history", [options](Session& session) {
        json::object params{{"offset", options->offset}};
        put(params, "length", options->length);
        put(params, "sessionId", options->conversation);
        return show(session, "rc_peek", std::move(params));
      });
  arguments.number("--offset", options->offset, 0, 100'000'000, "leave out so many newest ones");
  arguments.number("--length", options->length, 1, 50, "how many (default 10)");
  arguments.text("--conversation", options->conversation, kConversation, false);
}

void add_slice(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add("slice", "whole messages of a conversation, by their numbers",
                                      [options](Session& session) {
                                        json::object params{{"start", options->start}};
                                        put(params, "end", options->end);
                                        put(params, "char", options->first_char);
                                        put(params, "sessionId", options->conversation);
                                        return show(session, "rc_slice", std::move(params));
                                      });
  arguments.number("start", options->start, 0, 100'000'000, "number of the first (default 0)");
  arguments.number("end", options->end, 0, 100'000'000, "number behind the last");
  arguments.number("--char", options->first_char, 0, 100'000'000,
                   "start at this character of the first message");
  arguments.text("--conversation", options->conversation, kConversation, false);
}

void add_grep(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments =
      registry.add("grep", "search the history by words or, with --regex, by a regular expression",
                   [options](Session& session) {
                     json::object params{{"pattern", options->pattern}};
                     if (options->regex) params["mode"] = "regex";
                     put(params, "sessionId", options->conversation);
                     put(params, "since", options->since);
                     put(params, "before", options->before);
                     put(params, "cursor", options->cursor);
                     put(params, "limit", options->limit);
                     return show(session, "rc_grep", std::move(params));
                   });
  arguments.text("pattern", options->pattern, "what to look for", true);
  arguments.flag("--regex", options->regex, "the pattern is a regular expression (RE2)");
  arguments.text("--since", options->since, "from this date or time on", false);
  arguments.text("--before", options->before, "before this date or time", false);
  arguments.number("--limit", options->limit, 1, 100, "how many at most (default 20)");
  arguments.text("--cursor", options->cursor, "go on where an earlier answer ended", false);
  arguments.text("--conversation", options->conversation, kConversation, false);
}

void add_timeline(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add("timeline", "what was spoken of when, by local days",
                                      [options](Session& session) {
                                        json::object params;
                                        put(params, "sessionId", options->conversation);
                                        put(params, "bucket", options->bucket);
                                        put(params, "since", options->since);
                                        put(params, "before", options->before);
                                        put(params, "limit", options->limit);
                                        return show(session, "rc_timeline", std::move(params));
                                      });
  arguments.text("--by", options->bucket, "hour, day (default) or month", false);
  arguments.text("--since", options->since, "from this date or time on", false);
  arguments.text("--before", options->before, "before this date or time", false);
  arguments.number("--limit", options->limit, 1, 100, "how many periods at most (default 30)");
  arguments.text("--conversation", options->conversation, kConversation, false);
}

}  // namespace

void add_history(Registry& registry) {
  add_peek(registry);
  add_grep(registry);
  add_slice(registry);
  add_timeline(registry);
}

}  // namespace clawmark
