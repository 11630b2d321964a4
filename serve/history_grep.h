#pragma once
// One rc_grep: what is asked, what was found, where the next page begins.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/history.h"
#include "serve/history_pattern.h"

namespace clawmark {

struct Hit {
  HistoryText message;
  std::string snippet;
  double score = 1;
};

struct Grep {
  const ToolCallContext& context;
  HistoryPlace place;
  std::string pattern;
  TimeRange range;
  std::size_t limit = 0;
  std::string cursor;  // as given
  std::int64_t deadline = 0;

  std::vector<Hit> hits;
  std::string next;                // cursor of the next page; empty: none
  std::vector<std::string> notes;  // what was left out, and why
  std::size_t unreadable = 0;

  std::int64_t left_ms() const {
    return std::max<std::int64_t>(0, deadline - context.serving.clock.steady_ms());
  }
  bool late() const { return left_ms() == 0; }
  std::function<bool()> stop() const {
    return [this] { return late(); };
  }
};

// The last message looked at: "<ms>.<message>", or "m<message>" when a search by the messages'
// numbers was stopped.
struct Cursor {
  TimeMs at;
  Seq message;
  bool by_number = false;

  std::string text() const {
    return by_number ? "m" + std::to_string(message.value)
                     : std::to_string(at.value) + "." + std::to_string(message.value);
  }
};

bool parse_whole(std::string_view text, std::int64_t& out);
std::optional<Cursor> parse_cursor(std::string_view text);
Error bad_cursor();

// A match with what stands around it, on one line.
std::string snippet_at(std::string_view text, const PatternMatch& match);

// By words, best first; behind them what tools answered. Fills hits, notes and the next cursor.
// Error: invalid "bad_cursor".
Status grep_words(Grep& grep);

}  // namespace clawmark
