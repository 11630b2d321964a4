#include "serve/tool_world.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "log/event_log.h"
#include "serve/quote.h"
#include "serve/tool_writes.h"

namespace clawmark {
namespace {

constexpr std::size_t kLineChars = 320;

std::string short_id(const std::string& id) {
  return id.substr(0, 8);
}

std::string cite(const Citation& from, const std::string& zone) {
  std::string out = " [" + format_date(from.said, zone);
  if (!from.speaker.empty()) out += ", " + quote_inline(from.speaker);
  if (!from.session_id.empty()) out += ", session " + short_id(from.session_id);
  return out + ", message " + short_id(from.entry_id) + "]";
}

std::string percent(double share) {
  return std::to_string(static_cast<int>(std::lround(share * 100))) + "%";
}

}  // namespace

Result<std::optional<AsOf>> parse_as_of(Database& db, const json::object& params) {
  std::string at = get_string(params, "at");
  if (const auto position = get_optional_int(params, "at")) at = std::to_string(*position);
  if (at.empty()) return std::optional<AsOf>{};
  if (at.size() < 19 && at.find_first_not_of("0123456789") == std::string::npos) {
    CLAWMARK_ASSIGN(const auto event, EventLog::get(db, {std::stoll(at)}));
    if (event) return std::optional<AsOf>(AsOf{event->recorded, event->seq});
    CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
    return make_error(ErrorKind::kInvalid, "tools", "bad_at",
                      "the log has no event " + at + ": it has 1 to " + std::to_string(head.value));
  }
  const auto time = parse_iso(at.size() == 10 ? at + "T23:59:59Z" : at);
  if (!time) {
    return make_error(ErrorKind::kInvalid, "tools", "bad_at",
                      "`at` is a time like 2026-11-20 or 2026-11-20T18:00:00Z, or the number of an "
                      "event in the log");
  }
  return std::optional<AsOf>(AsOf{*time, std::nullopt});
}

Result<GraphScope> world_scope(const ToolCallContext& context, const json::object& params) {
  GraphScope scope = scope_of(context.sight, context.serving.clock.now());
  scope.half_life_days = context.serving.config()->decay_half_life_days;
  CLAWMARK_ASSIGN(const auto at, parse_as_of(context.db, params));
  if (at) {
    scope.at = at->time;
    scope.through = at->through;
  }
  return scope;
}

std::string as_of_text(const GraphScope& scope, const WorldText& text) {
  if (scope.through) return " as the log knew it at event " + std::to_string(scope.through->value);
  return scope.at ? " as of " + text.date(*scope.at) : std::string();
}

void WorldText::heading(std::string text) {
  section_ = std::move(text);
}

void WorldText::line(std::string text, std::int64_t message) {
  all_.push_back({section_, shorten(quote_inline(text), kLineChars), message, true});
  ++lines_;
}

void WorldText::plain(std::string text) {
  all_.push_back({section_, std::move(text), 0, false});
  ++lines_;
}

void WorldText::failed(std::string_view section, const Error& error) {
  degraded_.emplace_back(section);
  all_.push_back({section_,
                  "This part could not be read (" + error.reason +
                      "); it may hold something all the same. Check with: clawmark doctor",
                  0, false});
}

ToolAnswer WorldText::finish() const {
  std::set<std::int64_t> wanted;
  for (const Line& line : all_) {
    if (line.message > 0) wanted.insert(line.message);
  }
  std::vector<std::string> degraded = degraded_;
  std::map<std::int64_t, Citation> known;
  if (auto read = citations(db_, wanted); read.ok()) {
    known = std::move(read).value();
  } else {
    degraded.emplace_back("citations");
  }
  std::string text, section;
  json::array lines, broken;
  bool cut = false;
  std::size_t chars = 0;
  for (const Line& line : all_) {
    std::string row;
    if (line.section != section) row += (text.empty() ? "" : "\n") + line.section + ":\n";
    row += "- " + line.text;
    json::object detail{{"section", line.section}, {"text", line.text}};
    if (const auto from = known.find(line.message); line.cited && from != known.end()) {
      row += cite(from->second, zone_);
      detail["message"] = from->second.message;
      detail["entry_id"] = from->second.entry_id;
      detail["session_id"] = from->second.session_id;
      detail["date"] = format_date(from->second.said, zone_);
    }
    const std::size_t more = count_code_points(row) + 1;
    if (chars + more > chars_max_) {
      cut = true;
      break;
    }
    section = line.section;
    chars += more;
    text += row + "\n";
    lines.push_back(std::move(detail));
  }
  if (cut) text += "(shortened: there is more)\n";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (const auto& part : degraded) broken.emplace_back(part);
  return ToolAnswer{true,
                    std::move(text),
                    {{"lines", std::move(lines)}, {"degraded", std::move(broken)}, {"cut", cut}}};
}

std::string EndNames::of(const std::string& type, const std::string& key) {
  const auto known = names_.find({type, key});
  if (known != names_.end()) return known->second;
  const auto node = get_node(db_, scope_, type, key);
  const bool named = node.ok() && node->has_value() && !(*node)->name.empty();
  return names_[{type, key}] = named ? (*node)->name : key;
}

namespace {

bool says_more(const GraphNodeRow& node) {
  return !node.description.empty() && fold_case(node.description).find(fold_case(node.name)) != 0;
}

}  // namespace

std::int64_t told_by(const GraphNodeRow& node) {
  if (!node.reason.empty()) return node.reason_message;
  return says_more(node) ? node.description_message : node.message;
}

std::string node_text(const GraphNodeRow& node, const WorldText& text) {
  std::string out = node.name;
  if (node.due) {
    const TimeMs now = text.now();
    const bool open = node.status != "done" && node.status != "cancelled" && !node.valid_to;
    // A day without a time lasts until its end.
    const bool over = open && *node.due < now && text.date(*node.due) != text.date(now);
    out += " (due " + text.date(*node.due) + (over ? ", past" : "") + ")";
  }
  if (!node.reason.empty()) {
    out += ", because: " + node.reason;
  } else if (says_more(node)) {
    out += " \u2014 \u201c" + node.description + "\u201d";
  }
  return out;
}

std::string episode_text(const GraphEpisodeRow& episode, const WorldText& text) {
  return text.date(episode.occurred) + " " + episode.type + " (" + percent(episode.salience) +
         "): " + episode.title;
}

json::object node_json(const GraphNodeRow& node) {
  json::array holders, aliases;
  for (const auto& holder : node.holders) holders.emplace_back(holder);
  for (const auto& alias : node.aliases) aliases.emplace_back(alias);
  json::object out{{"type", node.type},
                   {"name", node.name},
                   {"key", node.key},
                   {"description", node.description},
                   {"status", node.status},
                   {"reason", node.reason},
                   {"slot", node.slot},
                   {"confidence", node.confidence},
                   {"effective_confidence", node.effective},
                   {"stated", node.stated},
                   {"first_seen", format_iso(node.first)},
                   {"last_confirmed", format_iso(node.last)},
                   {"valid_from", format_iso(node.valid_from)},
                   {"mentions", node.mentions},
                   {"message", told_by(node)},
                   {"aliases", std::move(aliases)},
                   {"holders", std::move(holders)}};
  if (node.valid_to) {
    out["valid_to"] = format_iso(*node.valid_to);
    out["superseded_by"] = node.superseded_by;
  }
  if (node.due) out["due"] = format_iso(*node.due);
  return out;
}

}  // namespace clawmark
