#include "models/rules/lexicon.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace clawmark::rules {
namespace {

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

struct ToolRow {
  ToolKind kind;
  std::string_view names;  // between blanks
};

constexpr std::array<ToolRow, 16> kTools = {{
    {{"editor", true},
     " vim neovim nvim emacs helix vscode vscodium zed sublime nano kakoune intellij pycharm "
     "webstorm clion goland "
     "xcode cursor "},
    {{"shell", true}, " bash zsh fish nushell powershell "},
    {{"os", true}, " linux macos windows ubuntu debian fedora nixos archlinux freebsd "},
    {{"browser", true}, " firefox chrome chromium safari brave vivaldi "},
    {{"terminal", true}, " kitty alacritty wezterm iterm iterm2 ghostty tmux "},
    {{"package_manager", false},
     " npm pnpm yarn bun poetry uv pip pipenv cargo conda conan vcpkg "},
    {{"database", false},
     " postgres postgresql mysql mariadb sqlite mongodb mongo cockroachdb duckdb clickhouse "
     "dynamodb cassandra oracle "},
    {{"cache", false}, " redis memcached valkey "},
    {{"queue", false}, " kafka rabbitmq nats sqs pulsar "},
    {{"language", false},
     " python python3 rust go golang typescript javascript java kotlin swift c++ c# ruby elixir "
     "scala haskell php zig "
     "clojure "},
    {{"frontend", false}, " react vue svelte angular nextjs next.js nuxt htmx solidjs astro "},
    {{"web_framework", false},
     " django flask fastapi rails express laravel spring phoenix axum actix nestjs "},
    {{"cloud", false},
     " aws gcp azure hetzner heroku vercel netlify fly.io digitalocean cloudflare "},
    {{"ci", false}, " jenkins circleci gitlab-ci buildkite travis "},
    {{"orchestration", false}, " kubernetes k8s nomad docker-compose docker podman "},
    {{"issue_tracker", false}, " jira linear trello asana youtrack "},
}};

constexpr std::array<std::string_view, 22> kColors = {
    "red",   "green",  "blue",  "yellow",    "orange", "purple", "violet", "pink",
    "black", "white",  "grey",  "gray",      "brown",  "teal",   "cyan",   "magenta",
    "gold",  "silver", "beige", "turquoise", "navy",   "maroon"};
constexpr std::array<std::string_view, 11> kDiets = {
    "vegan", "vegetarian",  "pescatarian", "pescetarian", "flexitarian", "kosher",
    "halal", "gluten-free", "teetotal",    "omnivore",    "carnivore"};
constexpr std::array<std::string_view, 18> kOnlyOnes = {"wife",
                                                        "husband",
                                                        "partner",
                                                        "girlfriend",
                                                        "boyfriend",
                                                        "fianc\xC3\xA9",
                                                        "fianc\xC3\xA9"
                                                        "e",
                                                        "fiance",
                                                        "fiancee",
                                                        "mother",
                                                        "father",
                                                        "mom",
                                                        "mum",
                                                        "dad",
                                                        "boss",
                                                        "manager",
                                                        "company",
                                                        "team"};
constexpr std::array<std::string_view, 28> kRelatives = {
    "son",    "daughter", "brother", "sister",   "cat",         "dog",         "puppy",
    "kitten", "hamster",  "rabbit",  "parrot",   "horse",       "bird",        "fish",
    "baby",   "kid",      "child",   "roommate", "flatmate",    "friend",      "cousin",
    "uncle",  "aunt",     "nephew",  "niece",    "grandmother", "grandfather", "colleague"};
constexpr std::array<std::string_view, 46> kTrades = {
    "engineer",     "developer",   "programmer",    "designer",   "teacher",   "nurse",
    "doctor",       "lawyer",      "student",       "writer",     "author",    "journalist",
    "photographer", "musician",    "artist",        "chef",       "cook",      "baker",
    "carpenter",    "electrician", "plumber",       "accountant", "architect", "scientist",
    "researcher",   "professor",   "manager",       "consultant", "analyst",   "pilot",
    "farmer",       "librarian",   "pharmacist",    "dentist",    "therapist", "psychologist",
    "translator",   "editor",      "administrator", "sysadmin",   "physicist", "mathematician",
    "biologist",    "chemist",     "paramedic",     "founder"};
constexpr std::array<std::string_view, 39> kAttributes = {
    "birthday",    "timezone",   "zone",       "job",      "role",      "title",      "email",
    "address",     "number",     "pronouns",   "nickname", "username",  "handle",     "tongue",
    "language",    "size",       "type",       "diet",     "age",       "hometown",   "employer",
    "badge",       "seat",       "locker",     "desk",     "extension", "height",     "weight",
    "nationality", "religion",   "major",      "degree",   "hobby",     "instrument", "commute",
    "budget",      "profession", "occupation", "locale"};
constexpr std::array<std::string_view, 45> kDeictics = {
    "it",      "that",     "this",  "these",  "those",   "you",       "your",     "yours",
    "him",     "her",      "them",  "his",    "their",   "its",       "one",      "ones",
    "how",     "what",     "where", "when",   "who",     "why",       "which",    "whatever",
    "there",   "here",     "both",  "either", "neither", "something", "anything", "nothing",
    "someone", "everyone", "stuff", "things", "thing",   "same",      "another",  "other",
    "others",  "such",     "it's",  "that's", "u"};
constexpr std::array<std::string_view, 36> kTrailing = {
    "too",      "lately",   "now",       "already", "though",     "really",
    "anymore",  "any_more", "either",    "again",   "still",      "also",
    "today",    "tbh",      "lol",       "haha",    "honestly",   "personally",
    "actually", "instead",  "then",      "yet",     "please",     "thanks",
    "btw",      "anyway",   "immensely", "dearly",  "especially", "mostly",
    "xd",       "nowadays", "sometimes", "alot",    "tho",        "currently"};
constexpr std::array<std::string_view, 20> kHedges = {
    "would",     "could",      "might", "if",     "unless",  "maybe",  "perhaps",
    "wouldn't",  "probably",   "i'd",   "should", "except",  "either", "whether",
    "hopefully", "supposedly", "wish",  "once",   "pretend", "until"};

}  // namespace

std::optional<ToolKind> tool_kind(std::string_view lower) {
  if (lower.empty() || lower.find(' ') != std::string_view::npos) return std::nullopt;
  for (const ToolRow& row : kTools) {
    for (std::size_t at = row.names.find(lower); at != std::string_view::npos;
         at = row.names.find(lower, at + 1)) {
      if (row.names[at - 1] == ' ' && row.names[at + lower.size()] == ' ') return row.kind;
    }
  }
  return std::nullopt;
}

bool is_color(std::string_view lower) {
  return holds(kColors, lower);
}
bool is_diet(std::string_view lower) {
  return holds(kDiets, lower);
}
bool is_only_one(std::string_view lower) {
  return holds(kOnlyOnes, lower);
}
bool is_relative(std::string_view lower) {
  return holds(kRelatives, lower) || is_only_one(lower);
}
bool is_trade(std::string_view lower) {
  return holds(kTrades, lower);
}
bool is_attribute(std::string_view lower) {
  return holds(kAttributes, lower) || is_color(lower) || lower == "color";
}
bool is_deictic(std::string_view lower) {
  return holds(kDeictics, lower);
}
bool is_trailing(std::string_view lower) {
  return holds(kTrailing, lower);
}
bool is_hedge(std::string_view lower) {
  return holds(kHedges, lower);
}

}  // namespace clawmark::rules
