// Screening of values for text that gives orders to the model. Method: the value is normalised and
// looked at as a list of words in which look-alikes coincide (screen_text.h); a rule is a chain of
// word sets with a largest gap. Marks of chat roles and of our guard are looked for in the
// normalised text itself, orders in other languages as stems near each other.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/guard.h"
#include "base/utf8.h"
#include "projections/facts.h"
#include "projections/screen_text.h"

namespace clawmark {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::size_t kGuideWords = 60;

struct Link {
  Words words;
  std::size_t gap;  // words that may stand between the link before and this one
};

struct ScreenRule {
  std::string_view name;
  std::span<const Link> chain;
};

template <std::size_t N>
using Set = std::array<std::string_view, N>;

constexpr Set<10> kDropVerbs = {"ignore",  "disregard", "forget", "override", "bypass",
                                "neglect", "discard",   "skip",   "overrule", "unlearn"};
constexpr Set<15> kEarlier = {"previous", "prior",    "above",     "earlier",  "preceding",
                              "system",   "safety",   "your",      "existing", "foregoing",
                              "initial",  "original", "developer", "these",    "those"};
constexpr Set<16> kOrders = {"instructions", "instruction", "prompt",   "prompts",
                             "rules",        "directions",  "messages", "message",
                             "guidelines",   "context",     "training", "constraints",
                             "policies",     "policy",      "orders",   "programming"};
constexpr Set<3> kAllWords = {"everything", "all", "anything"};
constexpr Set<9> kToldWords = {"above", "before",  "previously", "earlier", "told",
                               "know",  "learned", "learnt",     "prior"};
constexpr Set<1> kYou = {"you"};
constexpr Set<1> kAre = {"are"};
constexpr Set<1> kNow = {"now"};
constexpr Set<7> kRoleNext = {"a", "an", "the", "in", "dan", "my", "no"};
constexpr Set<2> kPretend = {"pretend", "roleplay"};
constexpr Set<2> kAct = {"act", "behave"};
constexpr Set<1> kAs = {"as"};
constexpr Set<2> kIf = {"if", "though"};
constexpr Set<5> kReveal = {"reveal", "print", "repeat", "leak", "output"};
constexpr Set<3> kSystem = {"system", "hidden", "developer"};
constexpr Set<4> kPrompt = {"prompt", "prompts", "instructions", "message"};
constexpr Set<4> kNot = {"not", "never", "dont", "without"};
constexpr Set<11> kTell = {"tell",   "telling",   "mention", "mentioning", "reveal", "revealing",
                           "inform", "informing", "notify",  "notifying",  "alert"};
constexpr Set<3> kThem = {"user", "users", "human"};
constexpr Set<2> kHide = {"hide", "conceal"};
constexpr Set<1> kFrom = {"from"};
constexpr Set<6> kSend = {"send", "forward", "upload", "exfiltrate", "leak", "transmit"};
constexpr Set<9> kLoot = {"password", "passwords", "credentials", "credential", "secrets",
                          "secret",   "tokens",    "cookies",     "keys"};
constexpr Set<2> kTo = {"to", "via"};
constexpr Set<3> kRun = {"execute", "run", "invoke"};
constexpr Set<1> kThe = {"the"};
constexpr Set<2> kFollowing = {"following", "below"};
constexpr Set<4> kCommands = {"command", "commands", "code", "script"};

constexpr Link kOverrideChain[] = {{kDropVerbs, 0}, {kEarlier, 4}, {kOrders, 3}};
constexpr Link kForgetChain[] = {{kDropVerbs, 0}, {kAllWords, 1}, {kToldWords, 4}};
constexpr Link kRoleChain[] = {{kYou, 0}, {kAre, 0}, {kNow, 0}, {kRoleNext, 0}};
constexpr Link kPretendChain[] = {{kPretend, 0}, {kYou, 2}};
constexpr Link kActChain[] = {{kAct, 0}, {kAs, 0}, {kIf, 0}, {kYou, 0}};
constexpr Link kRevealChain[] = {{kReveal, 0}, {kSystem, 3}, {kPrompt, 1}};
constexpr Link kSecrecyChain[] = {{kNot, 0}, {kTell, 1}, {kThem, 2}};
constexpr Link kHideChain[] = {{kHide, 0}, {kFrom, 3}, {kThem, 2}};
constexpr Link kLootChain[] = {{kSend, 0}, {kLoot, 5}, {kTo, 4}};
constexpr Link kRunChain[] = {{kRun, 0}, {kThe, 0}, {kFollowing, 0}, {kCommands, 2}};

constexpr ScreenRule kRules[] = {
    {"override_instructions", kOverrideChain},
    {"forget_everything", kForgetChain},
    {"role_change", kRoleChain},
    {"role_change", kPretendChain},
    {"role_change", kActChain},
    {"reveal_prompt", kRevealChain},
    {"secrecy", kSecrecyChain},
    {"secrecy", kHideChain},
    {"exfiltration", kLootChain},
    {"run_command", kRunChain},
};

// In normalised text (lower case, white space single).
constexpr std::string_view kMarks[] = {
    "<system>",
    "</system>",
    "<|system|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|user|>",
    "<|assistant|>",
    "[system]",
    "[/system]",
    "[system message]",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<</sys>>",
    "<assistant>",
    "</assistant>",
    "<user>",
    "</user>",
    "begin system",
    "begin admin",
    "end of system prompt",
    "new instructions:",
    "updated instructions:",
    "system prompt:",
    "### instruction",
    "### system",
    "\nsystem:",
    "\nassistant:",
    "[end memory",
};

// A rule's words in the form of screen_word().
struct PreparedLink {
  std::vector<std::string> words;
  std::size_t gap;
};
struct PreparedRule {
  std::string_view name;
  std::vector<PreparedLink> chain;
};

const std::vector<PreparedRule>& rules() {
  static const std::vector<PreparedRule> kPrepared = [] {
    std::vector<PreparedRule> out;
    for (const ScreenRule& rule : kRules) {
      PreparedRule prepared{rule.name, {}};
      for (const Link& link : rule.chain) {
        PreparedLink words{{}, link.gap};
        for (const auto word : link.words) words.words.push_back(screen_word(word));
        prepared.chain.push_back(std::move(words));
      }
      out.push_back(std::move(prepared));
    }
    return out;
  }();
  return kPrepared;
}

bool chain_from(const std::vector<std::string>& words, std::size_t at,
                std::span<const PreparedLink> rest) {
  if (rest.empty()) return true;
  for (std::size_t i = at; i < words.size() && i <= at + rest.front().gap; ++i) {
    const auto& set = rest.front().words;
    const bool in = std::find(set.begin(), set.end(), words[i]) != set.end();
    if (in && chain_from(words, i + 1, rest.subspan(1))) return true;
  }
  return false;
}

bool meets(const PreparedRule& rule, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (chain_from(words, i, rule.chain)) return true;
  }
  return false;
}

}  // namespace

std::string screen_for_injection(std::string_view value) {
  const std::string text = screen_normalise(value);
  const std::string framed = "\n" + text;
  for (const auto mark : kMarks) {
    if (framed.find(mark) != std::string::npos) return "role_mark";
  }
  for (const auto& guard : kKnownGuards) {
    if (text.find(fold_case(guard.open)) != std::string::npos ||
        text.find(fold_case(guard.close)) != std::string::npos) {
      return "guard_mark";
    }
  }
  if (overrides_in_other_language(text)) return "override_instructions";
  const auto words = screen_words(text);
  // "Run the following command" is what every guide says to its reader; as a short value it is not.
  const bool guide = words.size() > kGuideWords;
  for (const auto& rule : rules()) {
    if (guide && rule.name == "run_command") continue;
    if (meets(rule, words)) return std::string(rule.name);
  }
  return {};
}

}  // namespace clawmark
