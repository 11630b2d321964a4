#include "cmd/clawmark-sample/sample.h"

#include <charconv>
#include <map>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "tests/support/agent_db_writer.h"
#include "tests/support/transcript_writer.h"

namespace clawmark {
namespace {

// The digits that begin at `at`, as a number; 0 where there is none.
int number_at(std::string_view text, std::size_t at) {
  int value = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

using support::Conversation;
using support::Era;
using support::Item;
using support::ItemKind;
using support::Sender;

constexpr std::size_t kStoryFileMax = 1u << 20;

Error bad(const std::string& where, const std::string& what) {
  return make_error(ErrorKind::kInvalid, "sample", "story", where + ": " + what);
}

// One session of the story: what is said before the rewind, and after it.
struct Session {
  std::string kept;  // "file", "reset-archive", "database"
  Conversation talk;
  std::optional<std::string> rewind_to;  // entry id
  std::int64_t rewind_ms = 0;
  std::vector<Item> after_rewind;
};

class Story {
 public:
  explicit Story(const SampleOptions& options)
      : options_(options),
        start_ms_(from_local(options.year, options.month, options.day, 0, 0, "UTC")
                      .value_or(TimeMs{})
                      .value) {}

  Result<SampleCounts> write() {
    CLAWMARK_TRY(read_people());
    if (stat_file(join_path(options_.state_dir, "agents"))) {
      return bad(options_.state_dir, "holds agents/ already; name a new folder");
    }
    support::TranscriptWriter files(options_.state_dir, "main", Era::kFiles3);
    support::AgentDbWriter database(options_.state_dir, "main");
    SampleCounts counts;
    const std::string folder = join_path(options_.story_dir, "sessions");
    for (const auto& name : list_dir(folder)) {
      if (!name.ends_with(".jsonl")) continue;
      CLAWMARK_ASSIGN(Session session, read_session(join_path(folder, name)));
      counts.sessions += 1;
      counts.messages += support::message_ids(session.talk).size();
      for (const auto& item : session.after_rewind) {
        counts.messages += support::is_message(item) ? 1 : 0;
      }
      keep(session, files, database);
    }
    if (counts.sessions == 0) return bad(folder, "no sessions/*.jsonl there");
    database.checkpoint();
    return counts;
  }

 private:
  Status read_people() {
    const std::string path = join_path(options_.story_dir, "people.json");
    CLAWMARK_ASSIGN(const std::string text, read_file(path, kStoryFileMax));
    CLAWMARK_ASSIGN(const json::value people, parse_json(text));
    if (!people.is_object()) return bad(path, "must hold one object");
    for (const auto& person : people.get_object()) {
      const auto* about = person.value().if_object();
      if (about == nullptr) return bad(path, "each person is an object");
      people_[std::string(person.key())] = {get_string(*about, "id"), get_string(*about, "name"),
                                            get_string(*about, "username"),
                                            get_bool(*about, "owner")};
    }
    return Ok{};
  }

  // "d3 17:05"
  std::optional<std::int64_t> time_of(const std::string& at) const {
    const auto blank = at.find(' ');
    if (at.size() < 8 || at[0] != 'd' || blank == std::string::npos || at.size() != blank + 6) {
      return std::nullopt;
    }
    const int day = number_at(at, 1);
    const int hour = number_at(at, blank + 1), minute = number_at(at, blank + 4);
    return start_ms_ + (day - 1) * kDayMs + hour * kHourMs + minute * kMinuteMs;
  }

  // {d26} → "27 November"
  std::string with_dates(const std::string& text) const {
    constexpr const char* kMonths[] = {"January",   "February", "March",    "April",
                                       "May",       "June",     "July",     "August",
                                       "September", "October",  "November", "December"};
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto close = text.find('}', at);
      if (text.compare(at, 2, "{d") == 0 && close != std::string::npos) {
        const int day = number_at(text, at + 2);
        const LocalTime date = to_local({start_ms_ + (day - 1) * kDayMs}, "UTC");
        out += std::to_string(date.day) + " " + kMonths[date.month - 1];
        at = close + 1;
      } else {
        out += text[at++];
      }
    }
    return out;
  }

  Result<Session> read_session(const std::string& path) {
    CLAWMARK_ASSIGN(const std::string text, read_file(path, kStoryFileMax));
    Session session;
    ids_ = std::make_unique<support::Ids>(fnv1a(base_name(path)));
    labels_.clear();
    int line = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      const std::string where = base_name(path) + " line " + std::to_string(++line);
      auto value = parse_json(std::string_view(text).substr(at, end - at));
      if (!value || !value->is_object()) return bad(where, "is not a JSON object");
      if (line == 1) {
        CLAWMARK_TRY(read_header(session, value->get_object(), where));
      } else {
        CLAWMARK_TRY(read_line(session, value->get_object(), where));
      }
      at = end + 1;
    }
    if (session.talk.items.empty()) return bad(base_name(path), "says nothing");
    session.talk.start_ms = session.talk.items.front().entry_ms - 2000;
    support::complete(session.talk);
    return session;
  }

  Status read_header(Session& session, const json::object& header, const std::string& where) {
    session.kept = get_string(header, "kept");
    session.talk.session_key = get_string(header, "key");
    session.talk.session_id = ids_->uuid();
    if (session.talk.session_key.find(":telegram:") != std::string::npos) {
      session.talk.channel = "telegram";
      const bool group = session.talk.session_key.find(":group:") != std::string::npos;
      session.talk.chat_type = group ? "group" : "direct";
    }
    if (session.kept != "file" && session.kept != "reset-archive" && session.kept != "database") {
      return bad(where, "`kept` must be file, reset-archive or database");
    }
    return Ok{};
  }

  Era era(const Session& session) const {
    return session.kept == "database" ? Era::kDatabase4 : Era::kFiles3;
  }

  Item& add(Session& session, std::int64_t ms) {
    auto& items = session.rewind_to ? session.after_rewind : session.talk.items;
    // Two things in one minute are some seconds apart, in the order of the lines.
    if (!items.empty()) ms = std::max(ms, items.back().message_ms + 4000);
    Item item;
    item.id = ids_->next(era(session));
    item.message_ms = ms;
    item.entry_ms = ms + 150;
    items.push_back(item);
    return items.back();
  }

  Status read_line(Session& session, const json::object& line, const std::string& where) {
    const auto ms = time_of(get_string(line, "at"));
    if (!ms) return bad(where, "`at` must look like d3 17:05");
    if (const auto label = get_optional_string(line, "rewind")) {
      if (!labels_.contains(*label)) return bad(where, "no line has that label");
      session.rewind_to = labels_[*label];
      session.rewind_ms = *ms;
      return Ok{};
    }
    if (const auto text = get_optional_string(line, "heartbeat")) {
      Item& poll = add(session, *ms);
      poll.mark = "heartbeat";
      poll.text = "[OpenClaw heartbeat poll]";
      Item& answer = add(session, *ms);
      answer.role = "assistant";
      answer.text = *text;
      return Ok{};
    }
    if (const auto reason = get_optional_string(line, "reset")) {
      Item& reset = add(session, *ms);
      reset.kind = ItemKind::kReset;
      reset.id = ids_->hex(8);
      reset.reason = *reason;
      return Ok{};
    }
    if (const auto tool = get_optional_string(line, "tool")) {
      add_tool(session, *ms, *tool, line);
      return Ok{};
    }
    return add_speech(session, *ms, line, where);
  }

  void add_tool(Session& session, std::int64_t ms, const std::string& tool,
                const json::object& line) {
    const std::string call = "call_" + ids_->hex(12);
    const auto* arguments = find(line, "arguments");
    Item& asking = add(session, ms);
    asking.role = "assistant";
    asking.tools.push_back({call, tool, arguments == nullptr ? "{}" : to_text(*arguments)});
    Item& result = add(session, ms);
    result.role = "toolResult";
    result.call_id = call;
    result.tool_name = tool;
    result.text = get_string(line, "result");
  }

  Status add_speech(Session& session, std::int64_t ms, const json::object& line,
                    const std::string& where) {
    for (const auto& member : line) {
      const std::string who(member.key());
      if (who != "agent" && who != "owner" && !people_.contains(who)) continue;
      Item& item = add(session, ms);
      item.text = with_dates(get_string(line, who));
      if (who == "agent") {
        item.role = "assistant";
      } else if (who != "owner") {
        item.sender = people_[who];
        if (era(session) == Era::kFiles3) item.text = with_envelope(session, item);
      }
      if (const auto label = get_optional_string(line, "label")) labels_[*label] = item.id;
      return Ok{};
    }
    return bad(where, "nobody of people.json speaks");
  }

  // Older releases wrote what the host knew about the sender into the text itself.
  static std::string with_envelope(const Session& session, const Item& item) {
    const auto& sender = item.sender;
    json::object info{{"sender_id", sender.id}, {"sender", sender.name}};
    if (session.talk.chat_type == "group") {
      info["group_subject"] = "Lanterne";
      info["is_group_chat"] = true;
    }
    const json::object person{{"label", sender.name + " (" + sender.id + ")"},
                              {"id", sender.id},
                              {"name", sender.name},
                              {"username", sender.username}};
    return "Conversation info (untrusted metadata):\n```json\n" + to_text(info) +
           "\n```\n\nSender (untrusted metadata):\n```json\n" + to_text(person) + "\n```\n\n" +
           item.text;
  }

  void keep(Session& session, support::TranscriptWriter& files, support::AgentDbWriter& database) {
    if (session.kept != "database") {
      files.write(session.talk);
      if (session.kept == "reset-archive") {
        files.reset(session.talk.session_id, session.talk.items.back().entry_ms + kHourMs);
      }
      return;
    }
    database.write(session.talk);
    if (!session.rewind_to) return;
    Conversation branch = session.talk;
    branch.session_id = ids_->uuid();
    database.rewind(session.talk.session_id, branch.session_id, *session.rewind_to, ids_->hex(8),
                    session.rewind_ms);
    branch.items = session.after_rewind;
    branch.items.front().parent = *session.rewind_to;
    support::complete(branch);
    database.append(branch, 0);
  }

  const SampleOptions& options_;
  std::int64_t start_ms_;
  std::map<std::string, Sender> people_;
  std::unique_ptr<support::Ids> ids_;
  std::map<std::string, std::string> labels_;
};

}  // namespace

Result<SampleCounts> write_sample(const SampleOptions& options) {
  return Story(options).write();
}

}  // namespace clawmark
