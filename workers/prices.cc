#include "workers/prices.h"

#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "models/url.h"

namespace clawmark {
namespace {

constexpr char kMetaKey[] = "prices";
constexpr std::size_t kFileMax = 1u << 20;

Error invalid(std::string message) {
  return make_error(ErrorKind::kInvalid, "prices", "format", std::move(message));
}

Result<PriceTable> table_from(const json::object& object, const std::string& where) {
  PriceTable out;
  for (const auto& member : object) {
    const std::string model(member.key());
    const auto* row = member.value().if_object();
    if (row == nullptr) return invalid(where + ": " + model + " needs {\"input\":…,\"output\":…}");
    const Price price{get_double(*row, "input", -1), get_double(*row, "output", 0)};
    if (!(price.input_usd >= 0) || !(price.output_usd >= 0)) {
      return invalid(where + ": the prices of " + model + " must be numbers from 0 on");
    }
    out[model] = price;
  }
  return out;
}

constexpr std::string_view kBorders = "-:@.";

// A date, a number ("001", "v2"), or a word for the same thing at another time.
bool is_of_an_issue(std::string_view part) {
  if (part == "latest" || part == "preview" || part == "exp" || part == "free") return true;
  if (part.starts_with('v')) part.remove_prefix(1);
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether what stands behind a model's name names an issue of it. Any other word makes another
// model, which may cost many times as much ("gpt-5-pro"), and so does a number behind a dot
// ("gpt-5.2"), save that one vendor's names are spelt with either ("claude-haiku-4.5").
bool names_an_issue(std::string_view rest, bool dots) {
  if (rest.empty() || kBorders.find(rest.front()) == std::string_view::npos) return false;
  if (rest.front() == '.' && !dots) return false;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto part = rest.substr(0, rest.find_first_of(kBorders));
    if (!is_of_an_issue(part)) return false;
    rest.remove_prefix(part.size());
  }
  return true;
}

const Price* longest_match(const PriceTable& table, std::string_view model) {
  const Price* best = nullptr;
  std::size_t length = 0;
  const bool dots = model.starts_with("claude-");
  for (const auto& [name, price] : table) {
    if (model == name) return &price;
    if (name.size() > length && model.starts_with(name) &&
        names_an_issue(model.substr(name.size()), dots)) {
      best = &price;
      length = name.size();
    }
  }
  return best;
}

}  // namespace

const PriceTable& list_prices() {
  static const PriceTable kPrices = {
      {"gpt-4o-mini", {0.15, 0.60}},
      {"gpt-4o", {2.50, 10.00}},
      {"gpt-4.1", {2.00, 8.00}},
      {"gpt-4.1-mini", {0.40, 1.60}},
      {"gpt-4.1-nano", {0.10, 0.40}},
      {"gpt-5", {1.25, 10.00}},
      {"gpt-5-mini", {0.25, 2.00}},
      {"gpt-5-nano", {0.05, 0.40}},
      // Dearer than what is reckoned for a model without a known price.
      {"gpt-4", {30.00, 60.00}},
      {"gpt-5-pro", {15.00, 120.00}},
      {"o1", {15.00, 60.00}},
      {"o1-pro", {150.00, 600.00}},
      {"o3-pro", {20.00, 80.00}},
      {"claude-3-opus", {15.00, 75.00}},
      {"o4-mini", {1.10, 4.40}},
      {"claude-opus-4", {15.00, 75.00}},
      {"claude-sonnet-4", {3.00, 15.00}},
      {"claude-haiku-4", {1.00, 5.00}},
      {"claude-3-5-haiku", {0.80, 4.00}},
      {"claude-3-haiku", {0.25, 1.25}},
      {"gemini-2.5-pro", {1.25, 10.00}},
      {"gemini-2.5-flash", {0.30, 2.50}},
      {"gemini-2.5-flash-lite", {0.10, 0.40}},
      {"gemini-2.0-flash", {0.10, 0.40}},
      {"deepseek-chat", {0.27, 1.10}},
      {"mistral-small", {0.10, 0.30}},
      {"text-embedding-3-small", {0.02, 0}},
      {"text-embedding-3-large", {0.13, 0}},
      {"text-embedding-ada-002", {0.10, 0}},
      {"gemini-embedding-001", {0.15, 0}},
      {"mistral-embed", {0.10, 0}},
      {"voyage-3", {0.06, 0}},
      {"voyage-3-lite", {0.02, 0}},
  };
  return kPrices;
}

Result<PriceTable> read_prices(const std::string& path) {
  if (!stat_file(path)) return PriceTable{};
  CLAWMARK_ASSIGN(const std::string text, read_file(path, kFileMax));
  const auto parsed = parse_json_relaxed(text);
  if (!parsed.ok() || !parsed->is_object()) return invalid(path + " is no JSON object");
  return table_from(parsed->get_object(), path);
}

std::optional<Price> known_price(const PriceTable& overrides, std::string_view model) {
  if (const auto own = overrides.find(model); own != overrides.end()) return own->second;
  const auto bar = model.find('|');
  const auto url = bar == std::string_view::npos ? std::string_view() : model.substr(0, bar);
  const bool is_asked = url.find("://") != std::string_view::npos;
  const auto name = is_asked ? model.substr(bar + 1) : model;
  const auto slash = name.rfind('/');
  const auto bare = slash == std::string_view::npos ? name : name.substr(slash + 1);
  for (const auto tried : {name, bare}) {
    if (const Price* price = longest_match(overrides, tried)) return *price;
  }
  const bool is_own = is_asked ? is_on_this_machine(url) : name.starts_with("builtin");
  if (is_own) return Price{};
  for (const auto tried : {name, bare}) {
    if (const Price* price = longest_match(list_prices(), tried)) return *price;
  }
  return std::nullopt;
}

Price price_of(const PriceTable& overrides, std::string_view model) {
  return known_price(overrides, model).value_or(kUnknownPrice);
}

std::int64_t cost_micro_usd(const Price& price, std::int64_t input_tokens,
                            std::int64_t output_tokens) {
  // Dollars for a million tokens are millionths of a dollar for one.
  return std::llround(price.input_usd * static_cast<double>(input_tokens) +
                      price.output_usd * static_cast<double>(output_tokens));
}

Status keep_prices(Database& db, const PriceTable& overrides) {
  json::object out;
  for (const auto& [model, price] : overrides) {
    out[model] = json::object{{"input", price.input_usd}, {"output", price.output_usd}};
  }
  return db.run(
      "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE"
      " SET value = excluded.value",
      kMetaKey, to_text(out));
}

Result<PriceTable> kept_prices(Database& db) {
  CLAWMARK_ASSIGN(const auto text, db.query_text("SELECT value FROM meta WHERE key = ?", kMetaKey));
  if (!text) return PriceTable{};
  const auto parsed = parse_json(*text);
  if (!parsed.ok() || !parsed->is_object()) return PriceTable{};
  return table_from(parsed->get_object(), "meta");
}

}  // namespace clawmark
