#include "projections/screen_text.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <span>

#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t kNearBytes = 160;  // of one order, in UTF-8
constexpr std::size_t kSpelledMin = 3;   // single letters in a row that make a word

bool is_unseen(char32_t c) {
  const auto code = static_cast<UChar32>(c);
  return u_charType(code) == U_FORMAT_CHAR || (c >= 0xFE00 && c <= 0xFE0F) ||
         u_hasBinaryProperty(code, UCHAR_DEFAULT_IGNORABLE_CODE_POINT);
}

bool is_latin(char32_t c) {
  UErrorCode code = U_ZERO_ERROR;
  return uscript_getScript(static_cast<UChar32>(c), &code) == USCRIPT_LATIN && U_SUCCESS(code);
}

const USpoofChecker* spoof_checker() {
  static const std::unique_ptr<USpoofChecker, void (*)(USpoofChecker*)> checker = [] {
    UErrorCode code = U_ZERO_ERROR;
    return std::unique_ptr<USpoofChecker, void (*)(USpoofChecker*)>(uspoof_open(&code),
                                                                    uspoof_close);
  }();
  return checker.get();
}

std::string normalised_by(const icu::Normalizer2* form, std::string_view text, UErrorCode code) {
  if (form == nullptr || U_FAILURE(code)) return std::string(text);
  const auto input = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
  std::string out;
  form->normalize(input, code).toUTF8String(out);
  return out;
}

std::string decomposed(std::string_view text) {
  UErrorCode code = U_ZERO_ERROR;
  return normalised_by(icu::Normalizer2::getNFDInstance(code), text, code);
}
std::string composed(std::string_view text) {
  UErrorCode code = U_ZERO_ERROR;
  return normalised_by(icu::Normalizer2::getNFCInstance(code), text, code);
}

bool is_ascii(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return (c & 0x80) == 0; });
}

// "1gn0re": digits among letters.
std::string without_leet(std::string word) {
  constexpr std::string_view kDigits = "013457", kLetters = "oleast";
  const auto letters =
      std::count_if(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (letters < 2 || static_cast<std::size_t>(letters) == word.size()) return word;
  for (char& c : word) {
    if (c == '1') {
      c = 'i';
      continue;
    }
    const auto at = kDigits.find(c);
    if (at != std::string_view::npos) c = kLetters[at];
  }
  return word;
}

struct Language {
  std::span<const std::string_view> drop, earlier, orders;  // beginnings of words, or the words
};

template <std::size_t N>
using Set = std::array<std::string_view, N>;

constexpr Set<6> kDropDe = {"ignorier", "vergiss", "vergesst",
                            "missacht", "verwirf", "überschreib"};
constexpr Set<8> kEarlierDe = {"vorherig", "bisherig", "vorig",    "obig",
                               "früher",   "alle ",    "sämtlich", "deine "};
constexpr Set<6> kOrdersDe = {"anweisung", "instruktion", "regeln",
                              "vorgaben",  "befehle",     "prompt"};
constexpr Set<8> kDropFr = {"ignore ",
                            "ignorez",
                            "oublie ",
                            "oubliez",
                            "négligez",
                            "ne tiens pas compte",
                            "ne tenez pas compte",
                            "fais abstraction"};
constexpr Set<7> kEarlierFr = {"précédent", "antérieur", "ci-dessus", "toutes",
                               "tes ",      "vos ",      "avant"};
constexpr Set<4> kOrdersFr = {"instruction", "consigne", "règles", "directive"};
constexpr Set<7> kDropEs = {"ignora",   "ignore",         "olvida", "olvide",
                            "descarta", "haz caso omiso", "omite"};
constexpr Set<8> kEarlierEs = {"anterior", "previas", "previos",   "todas",
                               "todos",    "tus ",    "de arriba", "sus "};
constexpr Set<5> kOrdersEs = {"instrucci", "indicaciones", "reglas", "órdenes", "directrices"};
constexpr Set<4> kDropIt = {"ignora", "dimentica", "trascura", "scarta"};
constexpr Set<5> kEarlierIt = {"precedent", "di sopra", "tutte", "tutti", "tue "};
constexpr Set<4> kOrdersIt = {"istruzion", "regole", "direttiv", "ordini"};
constexpr Set<6> kDropPt = {"ignore", "ignora", "esqueça", "esquece", "desconsider", "descarte"};
constexpr Set<6> kEarlierPt = {"anterior", "prévi", "acima", "todas", "todos", "suas "};
constexpr Set<4> kOrdersPt = {"instruç", "regras", "diretrizes", "ordens"};
constexpr Set<3> kDropNl = {"negeer", "vergeet", "verwerp"};
constexpr Set<5> kEarlierNl = {"vorige", "eerdere", "bovenstaande", "alle ", "voorgaande"};
constexpr Set<4> kOrdersNl = {"instructies", "aanwijzingen", "regels", "opdrachten"};
constexpr Set<4> kDropPl = {"ignoruj", "zignoruj", "zapomnij", "pomiń"};
constexpr Set<5> kEarlierPl = {"poprzedni", "wcześniej", "wszystkie", "powyższ", "dotychczas"};
constexpr Set<4> kOrdersPl = {"instrukcj", "polece", "zasady", "reguł"};
constexpr Set<5> kDropRu = {"игнорируй", "проигнорируй", "забудь", "отмени ",
                            "не обращай внимания"};
constexpr Set<6> kEarlierRu = {"предыдущ", "прежн", "все ", "всё ", "выше", "прошлы"};
constexpr Set<5> kOrdersRu = {"инструкц", "указани", "правила", "команды", "приказы"};
constexpr Set<4> kDropUk = {"ігноруй", "проігноруй", "забудь", "знехтуй"};
constexpr Set<4> kEarlierUk = {"попередн", "усі ", "всі ", "вище"};
constexpr Set<4> kOrdersUk = {"інструкц", "вказівк", "правила", "команди"};
constexpr Set<5> kDropTr = {"yok say", "görmezden gel", "unut", "dikkate alma", "boş ver"};
constexpr Set<4> kEarlierTr = {"önceki", "yukarıdaki", "tüm ", "bütün"};
constexpr Set<4> kOrdersTr = {"talimat", "kuralları", "yönerge", "komut"};
constexpr Set<4> kDropSv = {"ignorera", "glöm ", "bortse", "strunta"};
constexpr Set<5> kEarlierSv = {"tidigare", "föregående", "ovanstående", "alla ", "dina "};
constexpr Set<3> kOrdersSv = {"instruktion", "regler", "anvisning"};
constexpr Set<8> kDropZh = {"忽略", "无视", "無視", "忘记", "忘記", "不要理会", "别管", "抛弃"};
constexpr Set<8> kEarlierZh = {"之前", "以上", "先前", "上面", "所有", "前面", "此前", "全部"};
constexpr Set<8> kOrdersZh = {"指令", "指示", "提示词", "规则", "規則", "命令", "设定", "要求"};
constexpr Set<5> kDropJa = {"無視", "忘れ", "従わない", "破棄", "無効"};
constexpr Set<7> kEarlierJa = {"以前", "これまで", "上記", "前の", "すべて", "全て", "今まで"};
constexpr Set<4> kOrdersJa = {"指示", "命令", "ルール", "プロンプト"};
constexpr Set<3> kDropKo = {"무시", "잊어", "따르지 마"};
constexpr Set<5> kEarlierKo = {"이전", "위의", "모든", "앞의", "지금까지"};
constexpr Set<5> kOrdersKo = {"지시", "명령", "지침", "규칙", "프롬프트"};
constexpr Set<5> kDropAr = {"تجاهل", "انس", "أهمل", "اهمل", "تغاض"};
constexpr Set<5> kEarlierAr = {"السابق", "جميع", "كل ", "أعلاه", "السالف"};
constexpr Set<4> kOrdersAr = {"تعليمات", "الأوامر", "القواعد", "التوجيهات"};
constexpr Set<4> kDropHi = {"अनदेखा", "नज़रअंदाज़", "भूल जा", "नजरअंदाज"};
constexpr Set<4> kEarlierHi = {"पिछले", "सभी", "पहले", "ऊपर"};
constexpr Set<3> kOrdersHi = {"निर्देश", "नियम", "आदेश"};
constexpr Set<3> kDropVi = {"bỏ qua", "quên", "phớt lờ"};
constexpr Set<3> kEarlierVi = {"trước", "tất cả", "ở trên"};
constexpr Set<4> kOrdersVi = {"hướng dẫn", "chỉ thị", "mệnh lệnh", "quy tắc"};
constexpr Set<3> kDropId = {"abaikan", "lupakan", "hiraukan"};
constexpr Set<3> kEarlierId = {"sebelumnya", "semua", "di atas"};
constexpr Set<4> kOrdersId = {"instruksi", "perintah", "aturan", "arahan"};

constexpr Language kLanguages[] = {
    {kDropDe, kEarlierDe, kOrdersDe}, {kDropFr, kEarlierFr, kOrdersFr},
    {kDropEs, kEarlierEs, kOrdersEs}, {kDropIt, kEarlierIt, kOrdersIt},
    {kDropPt, kEarlierPt, kOrdersPt}, {kDropNl, kEarlierNl, kOrdersNl},
    {kDropPl, kEarlierPl, kOrdersPl}, {kDropRu, kEarlierRu, kOrdersRu},
    {kDropUk, kEarlierUk, kOrdersUk}, {kDropTr, kEarlierTr, kOrdersTr},
    {kDropSv, kEarlierSv, kOrdersSv}, {kDropZh, kEarlierZh, kOrdersZh},
    {kDropJa, kEarlierJa, kOrdersJa}, {kDropKo, kEarlierKo, kOrdersKo},
    {kDropAr, kEarlierAr, kOrdersAr}, {kDropHi, kEarlierHi, kOrdersHi},
    {kDropVi, kEarlierVi, kOrdersVi}, {kDropId, kEarlierId, kOrdersId},
};

// Before it no Latin or Cyrillic letter: a stem begins a word there; elsewhere words have no
// borders.
bool begins_word(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const auto before = static_cast<unsigned char>(text[at - 1]);
  const auto first = static_cast<unsigned char>(text[at]);
  if (first >= 0xE0) return true;  // CJK, Hindi
  return before < 0x80 && !std::isalnum(before);
}

bool holds_stem(std::string_view text, std::span<const std::string> stems) {
  for (const std::string& stem : stems) {
    for (std::size_t at = text.find(stem); at != std::string_view::npos;
         at = text.find(stem, at + 1)) {
      // Arabic puts its article and conjunctions before the word.
      if (begins_word(text, at) || static_cast<unsigned char>(stem[0]) >= 0xD8) return true;
    }
  }
  return false;
}

struct FoldedLanguage {
  std::vector<std::string> drop, earlier, orders;
};

const std::vector<FoldedLanguage>& languages() {
  static const std::vector<FoldedLanguage> kFolded = [] {
    const auto fold = [](std::span<const std::string_view> words) {
      std::vector<std::string> out;
      for (const auto word : words) out.push_back(screen_normalise(word));
      return out;
    };
    std::vector<FoldedLanguage> out;
    for (const Language& language : kLanguages) {
      out.push_back({fold(language.drop), fold(language.earlier), fold(language.orders)});
    }
    return out;
  }();
  return kFolded;
}

}  // namespace

std::string screen_normalise(std::string_view text) {
  const std::string folded = decomposed(fold_case(text));
  std::string out;
  bool latin = false;
  for (std::size_t at = 0; at < folded.size();) {
    const char32_t c = next_code_point(folded, at);
    if (is_unseen(c)) continue;
    const auto type = u_charType(static_cast<UChar32>(c));
    if (latin && (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK)) continue;
    latin = is_latin(c);
    if (c == '\n' || c == '\r') {
      out += '\n';
    } else if (is_space(c)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      append_code_point(out, c);
    }
  }
  return composed(out);
}

std::string screen_word(std::string_view word) {
  std::string plain = is_ascii(word) ? without_leet(std::string(word)) : std::string(word);
  const auto letters = icu::UnicodeString::fromUTF8(
      icu::StringPiece(plain.data(), static_cast<std::int32_t>(plain.size())));
  icu::UnicodeString skeleton;
  UErrorCode code = U_ZERO_ERROR;
  if (spoof_checker() == nullptr) return plain;
  uspoof_getSkeletonUnicodeString(spoof_checker(), 0, letters, skeleton, &code);
  if (U_FAILURE(code)) return plain;
  std::string out;
  skeleton.foldCase().toUTF8String(out);
  return out;
}

std::vector<std::string> screen_words(std::string_view normalised) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < normalised.size();) {
    const char32_t c = next_code_point(normalised, at);
    if (u_isalnum(static_cast<UChar32>(c))) {
      append_code_point(words.back(), c);
    } else if (c != '\'' && c != 0x2019 && !words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size();) {
    std::size_t end = i;
    std::string spelled;
    while (end < words.size() && words[end].size() == 1 && !std::isdigit(words[end][0])) {
      spelled += words[end++];
    }
    if (spelled.size() >= kSpelledMin) {
      out.push_back(screen_word(spelled));
      i = end;
    } else {
      out.push_back(screen_word(words[i++]));
    }
  }
  return out;
}

bool overrides_in_other_language(std::string_view normalised) {
  for (const FoldedLanguage& language : languages()) {
    for (const std::string& noun : language.orders) {
      for (std::size_t at = normalised.find(noun); at != std::string_view::npos;
           at = normalised.find(noun, at + 1)) {
        const std::size_t from = at > kNearBytes ? at - kNearBytes : 0;
        const auto near = normalised.substr(from, at - from + noun.size() + kNearBytes);
        if (holds_stem(near, language.drop) && holds_stem(near, language.earlier)) return true;
      }
    }
  }
  return false;
}

}  // namespace clawmark
