// clawmark forget KEY, or --message, --session, --person, --query: gone, and it stays gone.
// --preview shows what would go; --purge also takes it out of the files and looks for it there.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {
namespace {

constexpr std::int64_t kForgetMs = 60'000;
constexpr std::int64_t kPurgeMs = 3'600'000;  // rewrites the database

struct Wish {
  std::string key, message, session, person, query;
  bool preview = false, purge = false;
};

json::object params_of(const Wish& wish) {
  json::object out;
  const auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) out[name] = value;
  };
  put("key", wish.key);
  put("message", wish.message);
  put("session", wish.session);
  put("person", wish.person);
  put("query", wish.query);
  if (wish.preview) out["preview"] = true;
  if (wish.purge) out["purge"] = true;
  return out;
}

// Asked to forget something that is not there: as likely as not it was mistyped.
bool found_nothing(const Wish& wish, const json::object& done) {
  const auto* details = find_object(done, "details");
  return !wish.preview && !wish.purge && details != nullptr &&
         !get_bool(*details, "forgotten", true);
}

}  // namespace

void add_forget(Registry& registry) {
  auto wish = std::make_shared<Wish>();
  Arguments& arguments =
      registry.add("forget", "forget a fact, a message, a session, a person or what a query finds",
                   [wish](Session& session) {
                     auto answer = session.ask("forget", session.with_eyes(params_of(*wish)),
                                               wish->preview ? Access::kRead : Access::kWrite,
                                               wish->purge ? kPurgeMs : kForgetMs);
                     if (answer.ok() && found_nothing(*wish, *answer)) (*answer)["ok"] = false;
                     return session.finish(answer, [&](const json::object& done) {
                       std::string text = get_string(done, "text", "done");
                       // The confirmation is for models; here the same command without --preview
                       // does it.
                       if (wish->preview)
                         text.resize(std::min(text.size(), text.rfind("\nTo do it,")));
                       std::printf("%s\n", text.c_str());
                     });
                   });
  arguments.text("key", wish->key, "key of a fact", false);
  arguments.text("--message", wish->message, "numbers of messages, as search --json shows them",
                 false);
  arguments.text("--session", wish->session, "id of a session: all that was said in it", false);
  arguments.text("--person", wish->person,
                 "a person, as telegram:101: all they said and their facts", false);
  arguments.text("--query", wish->query, "every fact and message that holds all of these words",
                 false);
  arguments.flag("--preview", wish->preview, "only show what would go");
  arguments.flag("--purge", wish->purge,
                 "take everything forgotten so far out of the files, and prove it");
}

}  // namespace clawmark
