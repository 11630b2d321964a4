#include "workers/history_state.h"

#include <algorithm>
#include <array>

#include "base/limits_history.h"
#include "base/utf8.h"
#include "workers/budget.h"
#include "workers/prices.h"

namespace clawmark {
namespace {

constexpr char kWorker[] = "query";

// Made when first used: a store of someone who never runs a script has neither.
constexpr char kTables[] = R"sql(
CREATE TABLE IF NOT EXISTS repl_values(
  owner TEXT NOT NULL, name TEXT NOT NULL, agent TEXT NOT NULL, value TEXT NOT NULL,
  updated_ms INTEGER NOT NULL, PRIMARY KEY(owner, name)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS query_turns(
  owner TEXT PRIMARY KEY, turn_ms INTEGER NOT NULL, reserved_micro_usd INTEGER NOT NULL,
  spent_micro_usd INTEGER NOT NULL) STRICT, WITHOUT ROWID;
)sql";

using Command = Result<json::object> (*)(Database&, const json::object&, TimeMs);

json::object not_kept(std::string message) {
  return {{"ok", false}, {"message", std::move(message)}};
}

Result<json::object> store_value(Database& db, const json::object& params, TimeMs now) {
  const std::string owner = get_string(params, "owner"), name = get_string(params, "name");
  const json::value* given = find(params, "value");
  const std::string value = given == nullptr ? "null" : to_text(*given);
  if (name.empty() || count_code_points(name) > kReplNameMax) {
    return not_kept("a name has 1 to " + std::to_string(kReplNameMax) + " characters");
  }
  if (value == "null") {
    CLAWMARK_TRY(db.run("DELETE FROM repl_values WHERE owner = ? AND name = ?", owner, name));
    return json::object{{"ok", true}};
  }
  if (value.size() > kReplValueMax) {
    return not_kept("a stored value has at most " + std::to_string(kReplValueMax) + " bytes");
  }
  CLAWMARK_ASSIGN(
      const auto others,
      db.query_int("SELECT count(*) FROM repl_values WHERE owner = ? AND name <> ?", owner, name));
  CLAWMARK_ASSIGN(const auto bytes,
                  db.query_int("SELECT coalesce(sum(length(value)), 0) FROM repl_values WHERE "
                               "owner = ? AND name <> ?",
                               owner, name));
  if (others.value_or(0) >= kReplValuesMax ||
      bytes.value_or(0) + static_cast<std::int64_t>(value.size()) > kReplStoreMax) {
    return not_kept("the store of this conversation is full: store null under a name to free it");
  }
  CLAWMARK_TRY(
      db.run("INSERT INTO repl_values(owner, agent, name, value, updated_ms) VALUES (?, ?, ?, ?, ?)"
             " ON CONFLICT(owner, name) DO UPDATE SET value = excluded.value,"
             " updated_ms = excluded.updated_ms",
             owner, get_string(params, "agent"), name, value, now));
  return json::object{{"ok", true}};
}

Result<json::object> get_value(Database& db, const json::object& params, TimeMs) {
  CLAWMARK_ASSIGN(const auto text,
                  db.query_text("SELECT value FROM repl_values WHERE owner = ? AND name = ?",
                                get_string(params, "owner"), get_string(params, "name")));
  json::object out{{"value", nullptr}};
  if (text) {
    if (auto value = parse_json(*text); value.ok()) out["value"] = std::move(value).value();
  }
  return out;
}

Result<json::object> forget_values(Database& db, const json::object& params, TimeMs) {
  CLAWMARK_TRY(db.run("DELETE FROM repl_values WHERE agent = ?", get_string(params, "agent")));
  return json::object{};
}

// Never negative.
std::int64_t count(const json::object& params, std::string_view key) {
  return std::max<std::int64_t>(0, get_int(params, key));
}

Result<json::object> reserve(Database& db, const json::object& params, TimeMs now) {
  const std::string owner = get_string(params, "owner");
  const std::int64_t turn = get_int(params, "turn_ms");
  CLAWMARK_TRY(
      db.run("INSERT INTO query_turns(owner, turn_ms, reserved_micro_usd, spent_micro_usd)"
             " VALUES (?1, ?2, 0, 0) ON CONFLICT(owner) DO UPDATE SET turn_ms = excluded.turn_ms,"
             " reserved_micro_usd = 0, spent_micro_usd = 0 WHERE turn_ms < excluded.turn_ms",
             owner, turn));
  const Spent most{1, count(params, "input_tokens"), count(params, "output_tokens"), 0};
  const std::string model = get_string(params, "model");
  CLAWMARK_ASSIGN(const PriceTable prices, kept_prices(db));
  const std::int64_t wanted =
      cost_micro_usd(price_of(prices, model), most.input_tokens, most.output_tokens);
  CLAWMARK_ASSIGN(const auto used,
                  db.query_int("SELECT reserved_micro_usd + spent_micro_usd FROM query_turns WHERE "
                               "owner = ?",
                               owner));
  const std::int64_t left =
      std::max<std::int64_t>(0, get_int(params, "turn_cap_micro_usd") - used.value_or(0));
  json::object out{{"ok", false},
                   {"micro_usd", wanted},
                   {"left_micro_usd", left},
                   {"price_known", known_price(prices, model).has_value()}};
  if (wanted > get_int(params, "query_cap_micro_usd")) {
    out["why"] = "query";
    return out;
  }
  if (wanted > left) {
    out["why"] = "turn";
    return out;
  }
  const BudgetLimits day{get_int(params, "daily_tokens_max"), get_double(params, "daily_usd_max")};
  CLAWMARK_ASSIGN(const Allowance allowance, allowance_for(db, day, model, most, now));
  if (allowance.until) {
    out["why"] = "day";
    return out;
  }
  CLAWMARK_TRY(add_spend(db, kWorker, model, most, now));
  CLAWMARK_TRY(
      db.run("UPDATE query_turns SET reserved_micro_usd = reserved_micro_usd + ? WHERE "
             "owner = ?",
             wanted, owner));
  out["ok"] = true;
  out["reserved_ms"] = now.value;
  CLAWMARK_ASSIGN(const auto begun,
                  db.query_int("SELECT turn_ms FROM query_turns WHERE owner = ?", owner));
  out["turn_ms"] = begun.value_or(turn);
  return out;
}

// A turn that is over meanwhile has no reservation left to give back; what was spent is counted in
// the day all the same, in the one it was asked on.
Result<json::object> settle(Database& db, const json::object& params, TimeMs) {
  const std::int64_t input = count(params, "input_tokens"), output = count(params, "output_tokens");
  const std::int64_t told = get_int(params, "micro_usd", -1);
  const std::string model = get_string(params, "model");
  CLAWMARK_ASSIGN(const PriceTable prices, kept_prices(db));
  const Price price = price_of(prices, model);
  const std::int64_t spent = told >= 0 ? told : cost_micro_usd(price, input, output);
  const std::int64_t held = get_int(params, "reserved_micro_usd");
  CLAWMARK_TRY(
      db.run("UPDATE query_turns SET reserved_micro_usd = max(0, reserved_micro_usd - ?1),"
             " spent_micro_usd = spent_micro_usd + ?2 WHERE owner = ?3 AND turn_ms = ?4",
             held, spent, get_string(params, "owner"), get_int(params, "turn_ms")));
  Spent more{0, input - count(params, "reserved_input_tokens"),
             output - count(params, "reserved_output_tokens"), 0};
  // add_spend adds what the tokens cost
  more.micro_usd = spent - held - cost_micro_usd(price, more.input_tokens, more.output_tokens);
  CLAWMARK_TRY(add_spend(db, kWorker, model, more, TimeMs{get_int(params, "reserved_ms")}));
  return json::object{{"micro_usd", spent}};
}

struct Row {
  std::string_view name;
  Command run;
};
constexpr std::array<Row, 5> kCommands = {{{"repl_store", store_value},
                                           {"repl_get", get_value},
                                           {"repl_forget", forget_values},
                                           {"query_reserve", reserve},
                                           {"query_settle", settle}}};

}  // namespace

bool is_history_command(std::string_view command) {
  return std::any_of(kCommands.begin(), kCommands.end(),
                     [&](const Row& row) { return row.name == command; });
}

Result<json::object> run_history_command(Database& db, std::string_view command,
                                         const json::object& params, TimeMs now) {
  for (const Row& row : kCommands) {
    if (row.name != command) continue;
    CLAWMARK_ASSIGN(Transaction txn, Transaction::begin(db));
    CLAWMARK_TRY(db.exec(kTables));
    CLAWMARK_ASSIGN(json::object out, row.run(db, params, now));
    CLAWMARK_TRY(txn.commit());
    return out;
  }
  return make_error(ErrorKind::kNotFound, "history", "unknown_command", "there is no such command");
}

}  // namespace clawmark
