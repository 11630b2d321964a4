#include "base/guard.h"
#include "base/utf8.h"
#include "serve/block.h"
#include "serve/quote.h"
#include "tests/fuzz/targets.h"

namespace clawmark::fuzz {
namespace {

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

void check(const Block& block, std::size_t budget) {
  require(count_code_points(block.text) <= budget, "a block is within its budget");
  require(count_code_points(block.text) == block.chars, "a block knows its length");
  if (block.text.empty()) return;
  require(is_valid_utf8(block.text), "a block is UTF-8");
  require(block.text.starts_with(kGuardOpen) && count(block.text, kGuardOpen) == 1,
          "nothing inside opens the guard");
  require(count(block.text, kGuardClose) == 1, "nothing inside closes the guard");
  for (const auto& marks : kKnownGuards) {
    if (marks.open == kGuardOpen) continue;
    require(count(block.text, marks.close) == 0, "nothing inside closes another guard");
  }
}

}  // namespace

void fuzz_guard(std::string_view data) {
  const TimeMs now{1'795'000'000'000};
  const std::size_t budget = data.size() < 2 ? 500 : static_cast<unsigned char>(data[0]) * 8u;
  const std::string_view text = data.substr(std::min<std::size_t>(1, data.size()));
  const std::size_t half = text.size() / 2;
  const std::string quoted = quote_inline(text);
  require(is_valid_utf8(quoted) && quoted.find('\n') == std::string::npos, "one line of UTF-8");
  require(quote_inline(quoted) == quoted, "quoting is idempotent");
  require(count_code_points(shorten(text, 40)) <= 40, "shortened text is short");
  Fact fact;
  fact.key = std::string(text.substr(0, std::min<std::size_t>(half, 40)));
  fact.value = std::string(text.substr(half));
  fact.source = "user";
  fact.subject = std::string(text.substr(0, std::min<std::size_t>(half, 10)));
  fact.last_observed = fact.updated = now;
  const Fact facts[] = {fact, fact};
  check(facts_block(facts, "UTC", now, budget), budget);
  RecallItem item;
  item.at = now;
  item.role = "user";
  item.speaker = std::string(text.substr(0, std::min<std::size_t>(half, 20)));
  item.excerpt = std::string(text);
  RecallItem other = item;
  other.dialogue = true;
  const RecallItem items[] = {item, other};
  check(recall_block(items, "UTC", now, budget), budget);
}

}  // namespace clawmark::fuzz
