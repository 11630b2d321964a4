#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/utf8.h"
#include "cmd/rows.h"
#include "cmd/terminal.h"

namespace clawmark {
namespace {

constexpr std::size_t kLineMax = 110;  // characters

void line(const char* name, const std::string& text) {
  if (!text.empty()) std::printf("%-9s %s\n", name, text.c_str());
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out.append(out.empty() ? "" : " · ").append(part);
  return out;
}

std::string day_of(const json::object& row, std::string_view key, std::string_view zone) {
  const auto time = parse_iso(get_string(row, key));
  return time ? format_date(*time, zone) : std::string("never");
}

void print_health(const json::object& status) {
  const std::string health = get_string(status, "health", "ok");
  const char* word = get_bool(status, "inert") ? "INERT: the configuration is incomplete"
                     : health == "ok"          ? "OK"
                     : health == "red"         ? "RED"
                                               : "OK, with warnings";
  std::printf("clawmark %s  %s\n", get_string(status, "version").c_str(), word);
  const auto* warnings = find_array(status, "warnings");
  if (warnings == nullptr) return;
  for (const auto& item : *warnings) {
    if (!item.is_object()) continue;
    const auto& warning = item.get_object();
    std::printf("%s %s: %s\n", get_bool(warning, "red") ? "!!" : " !",
                get_string(warning, "code").c_str(), get_string(warning, "message").c_str());
    if (const std::string remedy = get_string(warning, "remedy"); !remedy.empty()) {
      std::printf("   → %s\n", remedy.c_str());
    }
  }
}

void print_memory(const json::object& status, std::string_view zone) {
  std::string store = get_string(status, "store");
  if (const std::string error = get_string(status, "store_error"); !error.empty()) {
    store += " (" + error + ")";
  }
  line("store", store);
  if (const std::string error = get_string(status, "counts_error"); !error.empty()) {
    line("memory", "could not be read (" + error + ")");
  }
  const auto* counts = find_object(status, "counts");
  if (counts == nullptr) return;
  std::vector<std::string> parts = {format_count(get_int(*counts, "messages")) + " messages in " +
                                        format_count(get_int(*counts, "sessions")) + " sessions",
                                    format_count(get_int(*counts, "facts")) + " facts (" +
                                        format_count(get_int(*counts, "facts_stated")) + " stated)",
                                    "newest " + day_of(*counts, "newest_message_at", zone)};
  if (const auto gone = get_int(*counts, "texts_gone"); gone > 0) {
    parts.push_back(format_count(gone) + " without their text");
  }
  if (const auto unplaced = get_int(*counts, "unplaced"); unplaced > 0) {
    parts.push_back(format_count(unplaced) + " of nobody known");
  }
  if (const auto parked = get_int(*counts, "parked"); parked > 0) {
    parts.push_back(format_count(parked) + " set aside");
  }
  line("memory", joined(parts));
}

void print_retention(const json::object& status) {
  const auto* retention = find_object(status, "retention");
  if (retention == nullptr || !get_bool(*retention, "keeps_all")) return;
  std::vector<std::string> parts = {"every text is copied"};
  if (const auto left = get_int(*retention, "events_to_look_at"); left > 0) {
    parts.push_back("earlier ones are being copied, " + format_count(left) + " events to go");
  }
  line("texts", joined(parts));
}

void print_sources(const json::object& status, std::string_view zone) {
  const auto* sources = find_array(status, "sources");
  if (sources == nullptr) return;
  bool first = true;
  for (const auto& item : *sources) {
    if (!item.is_object()) continue;
    const auto& source = item.get_object();
    const std::string state = get_string(source, "state");
    if (state == "absent") continue;
    std::string text = get_string(source, "carrier") + " " + state + ", newest " +
                       day_of(source, "newest_at", zone) + ", " + get_string(source, "path");
    line(first ? "sources" : "", text);
    if (const auto note = get_string(source, "message"); state == "ok" && !note.empty()) {
      line("", "  " + note);
    }
    first = false;
  }
}

std::string skipped_text(const json::object& row) {
  const std::int64_t byte = get_int(row, "byte", -1);
  if (!row.contains("line")) {
    return get_string(row, "file") + " to its end: " + get_string(row, "reason");
  }
  return get_string(row, "file") + (byte < 0 ? " row " : " line ") +
         std::to_string(get_int(row, "line")) +
         (byte < 0 ? "" : " (byte " + std::to_string(byte) + ")") + ": " +
         get_string(row, "reason");
}

// All by number, the newest by name.
void print_skipped(const json::object& status) {
  constexpr std::size_t kShown = 5;
  const auto* counts = find_object(status, "counts");
  const auto* skipped = find_array(status, "skipped");
  if (counts == nullptr || skipped == nullptr || skipped->empty()) return;
  line("skipped", format_count(get_int(*counts, "skipped_lines")) +
                      " lines could not be read; clawmark doctor names " +
                      (skipped->size() > kShown ? "more" : "them"));
  for (std::size_t i = 0; i < skipped->size() && i < kShown; ++i) {
    if (const auto* row = skipped->at(i).if_object()) line("", skipped_text(*row));
  }
}

// Only who has something to do or to say; all the others are one word.
void print_workers(const json::object& status) {
  const auto* workers = find_array(status, "workers");
  if (workers == nullptr) return;
  const auto* pipeline = find_object(status, "pipeline");
  const auto* rates = pipeline == nullptr ? nullptr : find_object(*pipeline, "per_second");
  std::vector<std::string> busy;
  for (const auto& item : *workers) {
    if (!item.is_object()) continue;
    const auto& worker = item.get_object();
    const std::string name = get_string(worker, "name"), state = get_string(worker, "state");
    const std::int64_t lag = get_int(worker, "lag");
    if (lag == 0 && state == "running") continue;
    std::string text = name + " " + format_count(lag) + " left";
    const double rate = rates == nullptr ? 0 : get_double(*rates, name);
    if (rate > 0) {
      text += ", " + format_age(static_cast<std::int64_t>(static_cast<double>(lag) / rate * 1000));
    }
    if (state != "running") text += ", " + state;
    if (const std::string why = get_string(worker, "failure"); !why.empty()) {
      text += " (" + one_line(why, kLineMax) + ")";
    }
    busy.push_back(std::move(text));
  }
  if (busy.empty()) {
    line("work", std::to_string(workers->size()) + " workers, all up to date");
    return;
  }
  for (std::size_t i = 0; i < busy.size(); ++i) line(i == 0 ? "work" : "", busy[i]);
}

void print_cost(const json::object& status) {
  const auto* spend = find_object(status, "spend");
  if (spend == nullptr) return;
  const std::int64_t tokens_max = get_int(*spend, "tokens_max");
  const double usd_max = get_double(*spend, "usd_max");
  if (get_int(*spend, "calls") == 0 && tokens_max == 0 && usd_max == 0) {
    line("cost", "no model was asked today");
    return;
  }
  char usd[64];
  std::snprintf(usd, sizeof usd, usd_max > 0 ? "%.4f of %.2f USD" : "%.4f USD",
                get_double(*spend, "usd"), usd_max);
  line("cost", "today " + format_count(get_int(*spend, "calls")) + " calls, " +
                   format_count(get_int(*spend, "tokens")) +
                   (tokens_max > 0 ? " of " + format_count(tokens_max) : "") + " tokens, " + usd);
}

std::string members(const json::object& status, std::string_view name, std::string_view zone) {
  const auto* object = find_object(status, name);
  std::vector<std::string> parts;
  if (object == nullptr) return {};
  for (const auto& member : *object) {
    const std::string key(member.key());
    const std::string value = cell(*object, key, zone);
    if (!value.empty() && value != "{}" && value != "[]") parts.push_back(key + " " + value);
  }
  return joined(parts);
}

}  // namespace

void print_status(const json::object& status, std::string_view zone) {
  print_health(status);
  print_memory(status, zone);
  print_retention(status);
  print_sources(status, zone);
  print_skipped(status);
  print_workers(status);
  line("progress", get_string(status, "progress"));
  line("index", members(status, "index", zone));
  print_cost(status);
  line("plugin", members(status, "plugin", zone));
  line("walls", members(status, "refusals", zone));
  line("degraded", members(status, "degraded", zone));
}

}  // namespace clawmark
