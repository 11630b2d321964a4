#include "serve/history.h"

#include <charconv>
#include <cmath>
#include <unordered_map>

#include "base/utf8.h"
#include "serve/quote.h"
#include "serve/tool_writes.h"
#include "sources/text_cleaner.h"

namespace clawmark {
namespace {

constexpr std::size_t kTextsAtOnce = 16;

std::string speaker_of(const HistoryRow& row) {
  if (row.role == "assistant" || row.role == "tool") return row.role;
  return row.speaker.empty() ? "user" : quote_inline(row.speaker);
}

// "2026-11-02" and the like: whole digits in the right places.
std::optional<TimeMs> parse_local(std::string_view text, std::string_view zone) {
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = -1;
    if (at + length > text.size()) return -1;
    const char* end = text.data() + at + length;
    const auto got = std::from_chars(text.data() + at, end, value);
    return got.ec == std::errc() && got.ptr == end ? value : -1;
  };
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) return std::nullopt;
  if (text[4] != '-' || text[7] != '-') return std::nullopt;
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  int hour = 0, minute = 0, second = 0;
  if (text.size() > 10) {
    if ((text[10] != 'T' && text[10] != ' ') || text[13] != ':') return std::nullopt;
    hour = number(11, 2);
    minute = number(14, 2);
  }
  if (text.size() > 16) second = text[16] == ':' ? number(17, 2) : -1;
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 24 ||
      minute < 0 || minute > 59 || second < 0 || second > 60 ||
      (hour == 24 && (minute > 0 || second > 0))) {
    return std::nullopt;
  }
  auto at = from_local(year, month, day, hour, minute, zone);
  if (at) at->value += second * kSecondMs;
  return at;
}

}  // namespace

Result<HistoryPlace> history_place(const ToolCallContext& context, std::string_view session_id) {
  const Sight& sight = context.sight;
  HistoryPlace out;
  out.scope.agent = sight.scope.agent;
  out.scope.audiences = sight.audiences;
  if (sight.audiences.empty()) {
    out.refused = closed_answer(sight);
    return out;
  }
  const std::string_view given = trim(session_id);
  if (given == "all") {
    out.label = "all conversations";
    return out;
  }
  if (!given.empty() && given != "current") {
    out.label = "that conversation";
    CLAWMARK_ASSIGN(out.scope.sessions, sessions_named(context.db, sight.scope.agent, given));
    return out;
  }
  const std::string& key = sight.scope.session_key;
  if (key.empty() && context.session_id.empty()) {
    out.label = "all conversations";
    return out;
  }
  out.label = "this conversation";
  std::vector<std::string> sessions;
  if (!key.empty()) {
    CLAWMARK_ASSIGN(sessions, sessions_named(context.db, sight.scope.agent, key));
  } else {
    CLAWMARK_ASSIGN(sessions, sessions_named(context.db, sight.scope.agent, context.session_id));
  }
  out.scope.sessions = std::move(sessions);
  return out;
}

Result<HistoryPlace> history_place(const ToolCallContext& context, const json::object& params) {
  const json::value* given = find(params, "sessionId");
  if (given != nullptr && !given->is_null() && !given->is_string()) {
    HistoryPlace out;
    out.refused = bad_request("sessionId must be text: current, all, or a session's id or key.");
    return out;
  }
  return history_place(context, get_string(params, "sessionId"));
}

bool by_person(const ToolCallContext& context) {
  return context.by == "cli";
}

Result<std::vector<HistoryText>> history_texts(const ToolCallContext& context,
                                               const HistoryScope& scope,
                                               std::span<const Seq> messages,
                                               std::int64_t wait_ms) {
  std::vector<HistoryText> out;
  std::vector<Seq> shown;
  for (const Seq message : messages) {
    CLAWMARK_ASSIGN(auto row, history_row(context.db, scope, message));
    if (!row) continue;
    shown.push_back(message);
    out.push_back({*std::move(row), -1, std::nullopt});
  }
  // A few at a time: a prompt that needs texts meanwhile comes between.
  const std::int64_t end = context.serving.clock.steady_ms() + wait_ms;
  for (std::size_t at = 0; at < shown.size(); at += kTextsAtOnce) {
    const auto some = std::span(shown).subspan(at, std::min(kTextsAtOnce, shown.size() - at));
    const BodyAnswer bodies =
        context.serving.bodies.get(context.db, some, end - context.serving.clock.steady_ms());
    for (std::size_t i = 0; i < bodies.bodies.size(); ++i) {
      if (bodies.bodies[i].state == BodyState::kGone) continue;
      out[at + i].text = presentable_text(bodies.bodies[i].text);
    }
    if (!bodies.in_time) break;
  }
  return out;
}

std::string quote_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    if (at > 0) out += '\n';
    out += quote_line(text.substr(at, end - at));
    at = end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
  }
  return out;
}

std::string history_heading(const HistoryText& message, std::string_view zone) {
  std::string out;
  if (message.index >= 0) out += "#" + std::to_string(message.index) + " ";
  return out + format_local(message.row.at, zone) + ", " + speaker_of(message.row) + ", message " +
         std::to_string(message.row.message.value);
}

json::object history_json(const HistoryText& message, std::string_view zone) {
  json::object out{{"id", std::to_string(message.row.message.value)},
                   {"at", format_iso(message.row.at)},
                   {"local", format_local(message.row.at, zone)},
                   {"role", message.row.role},
                   {"speaker", message.row.speaker},
                   {"sessionId", message.row.session_id}};
  if (message.index >= 0) out["index"] = message.index;
  return out;
}

std::string zone_note(const Config& config) {
  const auto origin = config.origins.find("timezone");
  const bool configured = origin == config.origins.end() || origin->second != "default";
  if (configured && !config.timezone.empty()) return {};
  const std::string zone = config.timezone.empty() ? "UTC" : config.timezone;
  return "No time zone is configured (setting timezone): times and days are in " + zone +
         ", this machine's.";
}

std::optional<TimeMs> parse_when(std::string_view text, std::string_view zone) {
  text = trim(text);
  if (const auto local = parse_local(text, zone.empty() ? "UTC" : zone)) return local;
  const auto tail = text.size() > 10 ? text.substr(10) : std::string_view();
  const bool names_zone = tail.find_first_of("Zz+-") != std::string_view::npos;
  return names_zone ? parse_iso(text) : std::nullopt;
}

TimeRange time_range(const json::object& params, std::string_view zone) {
  TimeRange out;
  for (const auto& [name, member] : {std::pair<const char*, TimeMs*>{"since", &out.since},
                                     std::pair<const char*, TimeMs*>{"before", &out.before}}) {
    const json::value* given = find(params, name);
    if (given == nullptr || given->is_null()) continue;
    const std::string text = get_string(params, name);
    if (text.empty() && given->is_string()) continue;
    const auto when = parse_when(text, zone);
    if (!when) {
      out.refused = bad_request(std::string(name) +
                                " is no time. Say a date (2026-01-31) or ISO 8601 "
                                "(2026-01-31T18:00:00Z).");
      return out;
    }
    *member = *when;
  }
  if (out.before.value != 0 && out.before <= out.since) {
    out.refused = bad_request("since must be earlier than before.");
  }
  return out;
}

IntParam int_param(const json::object& params, std::string_view name,
                   std::optional<std::int64_t> fallback, std::int64_t min, std::int64_t max) {
  const json::value* given = find(params, name);
  std::optional<std::int64_t> value;
  if (given == nullptr || given->is_null()) {
    value = fallback;
  } else if (given->is_int64()) {
    value = given->as_int64();
  } else if (given->is_double() && std::nearbyint(given->as_double()) == given->as_double() &&
             std::fabs(given->as_double()) < 1e15) {
    value = static_cast<std::int64_t>(given->as_double());
  } else if (given->is_string()) {
    const std::string_view text = trim(view(given->as_string()));
    std::int64_t parsed = 0;
    const auto got = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (got.ec == std::errc() && got.ptr == text.data() + text.size()) value = parsed;
  }
  if (value && *value >= min && *value <= max) return {*value, std::nullopt};
  return {0, bad_request(std::string(name) + " must be a whole number from " + std::to_string(min) +
                         " to " + std::to_string(max) + ".")};
}

}  // namespace clawmark
