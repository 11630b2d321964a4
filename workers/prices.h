#pragma once
// What a model's tokens cost, so that a day's cap in money bites. List prices of the vendors in US
// dollars for a million tokens; a file overrides them (docs/operations.md).

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sqlite.h"

namespace clawmark {

struct Price {
  double input_usd = 0, output_usd = 0;  // for a million tokens
};
using PriceTable = std::map<std::string, Price, std::less<>>;

// Of a model that nobody knows the price of: dear enough for the cap to come too early, not too
// late.
constexpr Price kUnknownPrice{10, 30};

const PriceTable& list_prices();
// {"model":{"input":0.15,"output":0.60}, …}, JSON with comments. A file that is not there is an
// empty table. Error: invalid, stage "prices", names what is wrong.
Result<PriceTable> read_prices(const std::string& path);

// `model` as the models name themselves: "gpt-4o-mini", or with where it is asked
// ("https://host/v1|gpt-4o-mini"). The name itself, else the longest entry of which it names an
// issue by date or number ("gpt-4o-mini-2024-07-18"), without a vendor before a slash
// ("openai/gpt-4o-mini"). A further word is another model ("gpt-5-pro" is no "gpt-5"). Overrides
// count first, then that a model of this machine is free, then the list.
std::optional<Price> known_price(const PriceTable& overrides, std::string_view model);
// The same, kUnknownPrice for one that nobody knows.
Price price_of(const PriceTable& overrides, std::string_view model);
std::int64_t cost_micro_usd(const Price& price, std::int64_t input_tokens,
                            std::int64_t output_tokens);

// Kept in the store, so that what was spent is reckoned the same by whoever writes it down.
Status keep_prices(Database& db, const PriceTable& overrides);
Result<PriceTable> kept_prices(Database& db);

}  // namespace clawmark
