#include <string>
#include <string_view>
#include <unordered_set>

#include "projections/porter.h"
#include "projections/search.h"

namespace clawmark {
namespace {

// English function words and the small talk of questions. Forms without apostrophe, as the
// tokenizer gives them.
constexpr std::string_view kWords =
    "a about above after again against all am an and any are arent as at be because been before "
    "being "
    "below between both but by can cant cannot could couldnt did didnt do does doesnt doing dont "
    "down "
    "during each few for from further had hadnt has hasnt have havent having he hed hell her here "
    "hers "
    "herself hes him himself his how i id if ill im in into is isnt it its itself ive just let "
    "lets me "
    "more most my myself no nor not now of off on once only or other our ours ourselves out over "
    "own "
    "please same shall she shes should shouldnt so some such than that thats the their theirs them "
    "themselves then there theres these they theyd theyll theyre theyve this those through to too "
    "under "
    "until up us very was wasnt we wed well were werent weve what whats when where which while who "
    "whom whose why will with wont would wouldnt you youd youll your youre yours yourself "
    "yourselves "
    "youve also any anyone ever tell told say said know s t re ve ll d m";

std::unordered_set<std::string> make_words() {
  std::unordered_set<std::string> words;
  for (std::size_t at = 0; at < kWords.size();) {
    const std::size_t end = std::min(kWords.find(' ', at), kWords.size());
    std::string word(kWords.substr(at, end - at));
    words.insert(word);
    porter_stem(word);
    words.insert(word);
    at = end + 1;
  }
  return words;
}

}  // namespace

bool is_stop_word(std::string_view token) {
  static const std::unordered_set<std::string> words = make_words();
  return words.contains(std::string(token));
}

}  // namespace clawmark
