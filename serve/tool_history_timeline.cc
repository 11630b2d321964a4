// rc_timeline: what happened when, by local hour, day or month, with the words that mark each.

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/limits_history.h"
#include "serve/history.h"
#include "serve/history_keywords.h"
#include "serve/tool_history.h"
#include "serve/tool_writes.h"

namespace clawmark {
namespace {

constexpr std::int64_t kPeriods = 30;
constexpr std::int64_t kQuarterHourMs = 15 * kMinuteMs;  // zones change at its borders
constexpr std::size_t kCharsPerToken = 4;

struct Period {
  std::string label;
  std::int64_t first = 0, last = 0;  // index, both inclusive
  TimeMs from, to;                   // of its first and last message
  std::int64_t chars = 0;
  std::map<std::string, std::int64_t> roles;
};

// Names the period of a time; remembers the last quarter of an hour, since zone rules cost.
class Periods {
 public:
  Periods(std::string_view bucket, std::string_view zone) : bucket_(bucket), zone_(zone) {}
  const std::string& of(TimeMs at) {
    const std::int64_t quarter = at.value / kQuarterHourMs;
    if (quarter != quarter_ || label_.empty()) {
      quarter_ = quarter;
      label_ = name(to_local(at, zone_));
    }
    return label_;
  }

 private:
  std::string name(const LocalTime& t) const {
    char text[64];
    if (bucket_ == "month") {
      std::snprintf(text, sizeof text, "%04d-%02d", t.year, t.month);
    } else if (bucket_ == "day") {
      std::snprintf(text, sizeof text, "%04d-%02d-%02d", t.year, t.month, t.day);
    } else {  // the hour that comes twice when clocks go back is two, by its offset
      const int offset = t.offset_minutes < 0 ? -t.offset_minutes : t.offset_minutes;
      std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:00 %c%02d:%02d", t.year, t.month, t.day,
                    t.hour, t.offset_minutes < 0 ? '-' : '+', offset / 60, offset % 60);
    }
    return text;
  }
  std::string bucket_, zone_, label_;
  std::int64_t quarter_ = 0;
};

std::vector<Period> periods_of(const std::vector<HistoryEntry>& entries, const TimeRange& range,
                               std::string_view bucket, std::string_view zone) {
  std::vector<Period> out;
  Periods names(bucket, zone);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const HistoryEntry& entry = entries[i];
    if (entry.at < range.since) continue;
    if (range.before.value != 0 && entry.at >= range.before) break;
    const std::string& label = names.of(entry.at);
    const auto index = static_cast<std::int64_t>(i);
    if (out.empty() || out.back().label != label) {
      out.push_back({label, index, index, entry.at, entry.at, 0, {}});
    }
    Period& period = out.back();
    period.last = index;
    period.to = entry.at;
    period.chars += entry.chars;
    ++period.roles[entry.role];
  }
  return out;
}

// Texts spread evenly over the period.
std::vector<std::string> keywords_of(const ToolCallContext& context, const HistoryScope& scope,
                                     const std::vector<HistoryEntry>& entries, const Period& period,
                                     std::size_t texts_max, std::int64_t deadline) {
  std::vector<std::size_t> talk;
  for (auto i = static_cast<std::size_t>(period.first); i <= static_cast<std::size_t>(period.last);
       ++i) {
    if (entries[i].role != "tool") talk.push_back(i);
  }
  const std::size_t wanted = std::min(talk.size(), texts_max);
  std::vector<Seq> sample;
  for (std::size_t k = 0; k < wanted; ++k) {
    sample.push_back(entries[talk[k * talk.size() / wanted]].message);
  }
  const std::int64_t wait = deadline - context.serving.clock.steady_ms();
  if (sample.empty() || wait <= 0) return {};
  const auto texts = history_texts(context, scope, sample, wait);
  if (!texts.ok()) return {};
  Keywords keywords;
  for (const HistoryText& text : *texts) {
    if (text.text) keywords.add(*text.text);
  }
  return keywords.best(context.db, kKeywords);
}

std::string period_line(const Period& period, const std::vector<std::string>& keywords) {
  std::int64_t messages = 0;
  std::string roles;
  for (const auto& [role, count] : period.roles) {
    messages += count;
    roles += (roles.empty() ? "" : ", ") + role + " " + std::to_string(count);
  }
  std::string out = "- " + period.label + ": " + std::to_string(messages) +
                    (messages == 1 ? " message (" : " messages (") + roles + "), #" +
                    std::to_string(period.first);
  if (period.last > period.first) out += " to #" + std::to_string(period.last);
  std::string words;
  for (const std::string& word : keywords) words += (words.empty() ? "" : ", ") + word;
  return out + (words.empty() ? "" : ": " + words) + "\n";
}

json::object period_json(const Period& period, const std::vector<std::string>& keywords) {
  json::object roles;
  std::int64_t messages = 0;
  for (const auto& [role, count] : period.roles) {
    roles[role] = count;
    messages += count;
  }
  json::array words;
  for (const std::string& word : keywords) words.emplace_back(word);
  return {{"period", period.label},
          {"messageCount", messages},
          {"tokenCount", period.chars / static_cast<std::int64_t>(kCharsPerToken)},
          {"roles", std::move(roles)},
          {"topKeywords", std::move(words)},
          {"messageIndexRange", {{"start", period.first}, {"end", period.last}}},
          {"from", format_iso(period.from)},
          {"to", format_iso(period.to)}};
}

}  // namespace

Result<ToolAnswer> tool_timeline(const ToolCallContext& context, const json::object& params) {
  const auto config = context.serving.config();
  const std::int64_t deadline = context.serving.clock.steady_ms() + kHistoryReadMs;
  const std::string zone = config->timezone.empty() ? "UTC" : config->timezone;
  const IntParam limit = int_param(params, "limit", kPeriods, 1, kTimelineLimitMax);
  if (limit.refused) return *limit.refused;
  const std::string bucket = get_string(params, "bucket", "day");
  if (bucket != "hour" && bucket != "day" && bucket != "month") {
    return bad_request("bucket must be hour, day or month.");
  }
  TimeRange range = time_range(params, zone);
  if (range.refused) return *range.refused;
  CLAWMARK_ASSIGN(HistoryPlace place, history_place(context, params));
  if (place.refused) return *place.refused;
  CLAWMARK_ASSIGN(const auto entries, history_entries(context.db, place.scope));
  auto periods = periods_of(entries, range, bucket, zone);
  const std::size_t all = periods.size();
  const auto shown = std::min(all, static_cast<std::size_t>(limit.value));
  periods.erase(periods.begin(), periods.end() - static_cast<std::ptrdiff_t>(shown));

  std::string text = std::to_string(entries.size()) + " messages in " + place.label + " (" +
                     bucket + "s in " + zone + "):\n";
  if (periods.empty()) text = "There are no messages in " + place.label + " in that time.\n";
  json::array list;
  const std::size_t texts_max =
      periods.empty() ? 0
                      : std::max<std::size_t>(
                            3, std::min(kKeywordTextsPerPeriod, kKeywordTexts / periods.size()));
  for (const Period& period : periods) {
    const auto words = keywords_of(context, place.scope, entries, period, texts_max, deadline);
    text += period_line(period, words);
    list.emplace_back(period_json(period, words));
  }
  json::object details{{"periods", std::move(list)},
                       {"total", static_cast<std::int64_t>(entries.size())},
                       {"zone", zone}};
  if (shown < all) {
    const std::string before = format_iso(periods.front().from);
    details["before"] = before;
    text += std::to_string(all - shown) + " earlier " + bucket + "s: before \"" + before + "\".\n";
  }
  close_with_notes(text, details, context, 0);
  return ToolAnswer{true, std::move(text), std::move(details)};
}

}  // namespace clawmark
