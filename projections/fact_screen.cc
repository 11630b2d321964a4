// Screening of values for text that gives orders to the model. Method: the value is normalised
// (NFKC, case folded, invisible characters out, white space and punctuation to single blanks) and
// looked at as a list of words; a rule is a chain of word sets with a largest gap. Marks of chat
// roles and of our guard are looked for in the normalised text itself.

#include <unicode/uchar.h>

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/guard.h"
#include "base/utf8.h"
#include "projections/facts.h"

namespace clawmark {
namespace {

using Words = std::span<const std::string_view>;

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

// The same orders in other languages, in normalised text.
constexpr std::string_view kForeign[] = {
    "ignoriere alle vorherigen",
    "ignoriere die vorherigen",
    "ignoriere alle bisherigen",
    "ignora las instrucciones",
    "ignora todas las instrucciones",
    "ignore les instructions",
    "ignorez les instructions",
    "ignore toutes les instructions",
    "ignora le istruzioni",
    "ignore as instruções",
    "ignora as instruções",
    "игнорируй предыдущие инструкции",
    "игнорируй все предыдущие",
    "забудь все предыдущие",
    "忽略之前的指令",
    "忽略以上指令",
    "忽略所有之前的指示",
    "无视之前的指令",
    "以前の指示を無視",
    "これまでの指示を無視",
    "上記の指示を無視",
    "이전 지시를 무시",
    "önceki talimatları yok say",
};

bool invisible(char32_t c) {
  return u_charType(static_cast<UChar32>(c)) == U_FORMAT_CHAR || (c >= 0xFE00 && c <= 0xFE0F);
}

// Case folded, invisible characters out. Line breaks stay, other white space becomes one blank.
std::string normalise(std::string_view value) {
  const std::string folded = fold_case(value);
  std::string out;
  for (std::size_t at = 0; at < folded.size();) {
    const char32_t c = next_code_point(folded, at);
    if (invisible(c)) continue;
    if (c == '\n' || c == '\r') {
      out += '\n';
    } else if (is_space(c)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      append_code_point(out, c);
    }
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (u_isalnum(static_cast<UChar32>(c))) {
      append_code_point(words.back(), c);
    } else if (c != '\'' && c != 0x2019 && !words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool contains(Words set, std::string_view word) {
  for (const auto candidate : set) {
    if (candidate == word) return true;
  }
  return false;
}

bool chain_from(const std::vector<std::string>& words, std::size_t at, std::span<const Link> rest) {
  if (rest.empty()) return true;
  for (std::size_t i = at; i < words.size() && i <= at + rest.front().gap; ++i) {
    if (contains(rest.front().words, words[i]) && chain_from(words, i + 1, rest.subspan(1))) {
      return true;
    }
  }
  return false;
}

bool meets(const ScreenRule& rule, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (chain_from(words, i, rule.chain)) return true;
  }
  return false;
}

}  // namespace

std::string screen_for_injection(std::string_view value) {
  const std::string text = normalise(value);
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
  for (const auto phrase : kForeign) {
    if (text.find(phrase) != std::string::npos) return "override_instructions";
  }
  const auto words = words_of(text);
  for (const auto& rule : kRules) {
    if (meets(rule, words)) return std::string(rule.name);
  }
  return {};
}

}  // namespace clawmark
