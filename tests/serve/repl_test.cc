// Scripts: what they can do, and a red team's tries to get out, to get at others, or to eat the
// machine. Each try ends in a refusal, with the service as it was.

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/limits_history.h"
#include "base/utf8.h"
#include "serve/repl_process.h"
#include "test_paths.h"
#include "world.h"

namespace clawmark {
namespace {

constexpr char kProgram[] = CLAWMARK_BIN_DIR "/clawmark-repl";
const json::object kAda = World::caller("agent:main:telegram:direct:101", "101", "s1");
const json::object kBob = World::caller("agent:main:telegram:direct:202", "202", "s2");

Result<json::value> no_host(const std::string& name, const json::object&) {
  return make_error(ErrorKind::kInvalid, "repl", "refused", "there is no function " + name);
}

ReplOutcome run(const std::string& code, const ReplHost& host = no_host) {
  const ReplOptions options{kProgram, 200, 20'000, 60'000};
  return must(run_repl(options, SystemClock(), code, host));
}

std::string final_text(const ReplOutcome& outcome) {
  return outcome.final ? to_text(*outcome.final) : "(none) " + outcome.error;
}

std::string ask(World& w, const json::object& who, const std::string& code) {
  const auto answer = w.tool("rc_repl", who, {{"code", code}});
  const json::value& final = answer.at("details").as_object().contains("finalAnswer")
                                 ? answer.at("details").as_object().at("finalAnswer")
                                 : answer.at("text");
  return final.is_null() ? "(none) " + text_of(answer, "text") : to_text(final);
}

TEST(Repl, speaks_the_language_of_2022) {
  EXPECT_EQ(final_text(run("class A { #x = 3; static { this.y = 4 } get x() { return this.#x } }\n"
                           "const m = /(?<year>\\d{4})/.exec('in 2026');\n"
                           "FINAL([new A().x, A.y, m.groups.year, [1, 2].at(-1), 10n ** 3n + '',"
                           " 'a-a'.replaceAll('a', 'ä'), await Promise.resolve(7)])")),
            R"([3,4,"2026",2,"1000","ä-ä",7])");
  // What docs/history.md says is not there.
  EXPECT_EQ(final_text(run("FINAL(['WeakRef', 'FinalizationRegistry', 'Atomics', "
                           "'SharedArrayBuffer'].filter(n => n in globalThis))")),
            "[]");
}

TEST(Repl, prints_values_as_a_person_would_read_them) {
  EXPECT_EQ(run("print('a', 1, [1], null, undefined, new Error('x')); console.log({b: 2})").output,
            "a 1 [\n 1\n] null undefined Error: x\n{\n \"b\": 2\n}\n");
}

TEST(Repl, an_error_names_its_line_and_an_endless_wait_is_told) {
  EXPECT_EQ(run("let a = 1;\nnull.x").error, "TypeError: null has no properties (line 2)");
  EXPECT_NE(run("x = ").error.find("SyntaxError"), std::string::npos);
  EXPECT_NE(run("await new Promise(() => {})").error.find("never comes"), std::string::npos);
  EXPECT_NE(run("await peek()").error.find("there is no function peek"), std::string::npos);
}

TEST(Repl, an_error_of_a_function_that_asks_names_the_scripts_line_or_none) {
  const auto error = [](const std::string& code) { return run(code).error; };
  EXPECT_TRUE(error("let a = 1;\npeek();\na").ends_with("there is no function peek (line 2)"));
  EXPECT_TRUE(error("const f = () =>\n  grep('x');\n\nf();").ends_with("grep (line 2)"));
  EXPECT_TRUE(error("await null;\nawait (async () => {\n  query('x') })();").ends_with("(line 3)"));
  EXPECT_TRUE(error("chunk('x', {\n  valueOf() { null.x } })").ends_with("(line 2)"));
  EXPECT_TRUE(error("llm_query('x',\n{toJSON() { throw 1 }})").find("(line") == std::string::npos);
  EXPECT_TRUE(error("const a = 1;\nx = ").ends_with("(line 2)")) << error("const a = 1;\nx = ");
  EXPECT_TRUE(error("1;\nPromise.resolve().then(() => {\n get('x') });").ends_with("(line 3)"));
}

TEST(Repl, half_a_character_is_replaced_and_chunks_end_between_characters) {
  EXPECT_EQ(final_text(run(R"(FINAL("a\ud800b"))")), "\"a\uFFFDb\"");
  EXPECT_EQ(final_text(run(R"(FINAL("\\ud800 \udc00\udc00"))")), "\"\\\\ud800 \uFFFD\uFFFD\"");
  EXPECT_EQ(final_text(run(R"(FINAL(chunk("ab😀😀c", 3)))")), R"(["ab😀","😀c"])");
  EXPECT_EQ(final_text(run(R"(FINAL(chunk("abcd", 3).join("|")))")), R"("abc|d")");
  EXPECT_EQ(run(R"(print("a\u0000b", "c"); print("next"))").output, "a\uFFFDb c\nnext\n");
}

TEST(Repl, a_rejection_that_nobody_handles_is_told) {
  const std::string lost = run("(async () => { throw new Error('lost') })()").error;
  EXPECT_NE(lost.find("Error: lost"), std::string::npos) << lost;
  EXPECT_EQ(run("const p = Promise.reject(1); p.catch(() => print('seen'))").error, "");
}

TEST(Repl, C152_what_a_question_throws_can_be_caught_and_hurts_nobody) {
  int asked = 0;
  const auto outcome =
      run("let n = 0; for (let i = 0; i < 5; i++) { try { peek(i) } catch (e) { n++ } } FINAL(n)",
          [&](const std::string& name, const json::object& params) {
            ++asked;
            return no_host(name, params);
          });
  EXPECT_EQ(final_text(outcome), "5");
  EXPECT_EQ(asked, 5);
}

TEST(Repl, finds_pages_and_times_the_callers_history) {
  World w;
  for (int i = 0; i < 12; ++i) w.say({.text = "needle " + std::to_string(i)});
  EXPECT_EQ(ask(w, kAda,
                "const page = slice(3, 5); const found = grep('needle 1\\\\d', {mode: 'regex'});"
                "FINAL([peek(0, 2).map(m => m.text), page.messages[0].text, page.total,"
                " found.length, timeline().length])"),
            R"([["needle 10","needle 11"],"needle 3",12,2,1])");
}

TEST(Repl, pages_of_a_long_message_lead_to_its_end) {
  World w;
  std::string big;
  for (int i = 0; i < 9000; ++i) big += "line " + std::to_string(i) + " ";
  w.say({.text = big});
  w.say({.text = "the end"});
  for (const char* more :
       {"{char: r.next.char}", "r.next", "{char: r.next.char, sessionId: 's1'}"}) {
    const std::string code = std::string("let r = slice(0, 2), text = '', pages = 1;") +
                             "for (; pages < 20; pages++) {"
                             "  text += r.messages.map(m => m.text).join('');"
                             "  if (!r.next) break;"
                             "  r = slice(r.next.start, 2, " +
                             more +
                             "); }"
                             "FINAL([pages, text.length, text.slice(-20)])";
    EXPECT_EQ(ask(w, kAda, code),
              "[4," + std::to_string(big.size() - 1 + 7) + R"(,"998 line 8999the end"])");
  }
  EXPECT_NE(ask(w, kAda, "slice(0, 1, 5)").find("sessionId must be text"), std::string::npos);
}

TEST(Repl, a_list_says_where_it_goes_on_and_what_is_missing) {
  World w;
  w.config->origins["timezone"] = "default";
  for (int i = 0; i < 12; ++i) {
    w.say({.text = "needle " + std::to_string(i), .at = {1'700'000'000'000 + i * kDayMs}});
  }
  EXPECT_EQ(ask(w, kAda,
                "const seen = new Set(); let hits, pages = 0, cursor; do {"
                "  hits = grep('needle \\\\d+', {mode: 'regex', limit: 5, cursor});"
                "  hits.forEach(hit => seen.add(hit.id)); cursor = hits.cursor; pages++;"
                "} while (cursor && pages < 9);"
                "const days = timeline({limit: 3}), last = peek(2, 4);"
                "FINAL([seen.size, pages, Array.isArray(hits), hits.notes.length,"
                " days.length, typeof days.before, timeline().before === undefined,"
                " last.length, last.total, last.older, Object.keys(last).length,"
                " [days, last, slice(0, 1)].map(l => l.notes.length).join()])"),
            R"([12,3,true,1,3,"string",true,4,12,6,4,"1,1,1"])");
}

TEST(Repl, a_long_final_value_says_that_it_was_cut_and_leaves_room_for_the_rest) {
  World w;
  w.say({.text = "hello"});
  const auto told = [&](const std::string& code) {
    const auto answer = w.tool("rc_repl", kAda, {{"code", code}});
    EXPECT_LE(chars(answer.at("text")), kHistoryAnswerMax);
    return text_of(answer, "text");
  };
  const std::string all = told(
      "print('printed', 'p'.repeat(15000) + 'last');"
      "FINAL('x'.repeat(90000)); null.x");
  EXPECT_NE(all.find("the final answer was cut at "), std::string::npos);
  EXPECT_NE(all.find("of its 90000 characters"), std::string::npos);
  EXPECT_NE(all.find("printed ppp"), std::string::npos);
  EXPECT_NE(all.find("what was printed was cut at "), std::string::npos);
  EXPECT_NE(all.find("Error: TypeError: null has no properties"), std::string::npos);
  const std::string little = told("print('printed'); FINAL('x'.repeat(90000))");
  EXPECT_NE(little.find(std::string(22'900, 'x')), std::string::npos);
  EXPECT_NE(little.find("printed"), std::string::npos);
  EXPECT_EQ(told("FINAL('x'.repeat(20000))").find("cut at"), std::string::npos);
}

TEST(Repl, C154_a_script_sees_and_keeps_only_what_its_caller_may) {
  World w;
  w.say({.text = "my salary is 9100"});
  w.say({.text = "clinic salary list",
         .session_key = "agent:clinic:telegram:direct:202",
         .session_id = "k1",
         .sender = "telegram:202"});
  for (const char* code :
       {"FINAL(slice(0, 9, 'agent:main:telegram:direct:101'))", "FINAL(slice(0, 9, 's1'))",
        "FINAL(slice(0, 9, 'agent:clinic:telegram:direct:202'))", "FINAL(peek(0, 9, 'all'))",
        "FINAL(grep('salary', {agent: '*', scope: 'all', audiences: ['person:telegram:101']}))",
        "FINAL(grep('salary', {caller: {agent: 'clinic', sender_id: '202'}, scope: 'all'}))",
        "FINAL(grep('s.*y', {mode: 'regex', scope: 'all', as: 'owner'}))",
        "FINAL(timeline({sessionId: 'k1'}))", "setScope('clinic'); FINAL(peek(0))",
        "globalThis.agent = 'clinic'; FINAL(peek(0, 9, 'k1'))"}) {
    const std::string answer = ask(w, kBob, code);
    EXPECT_EQ(answer.find("9100"), std::string::npos) << code;
    EXPECT_EQ(answer.find("clinic salary"), std::string::npos) << code;
  }
  EXPECT_NE(ask(w, kAda, "FINAL(peek(0))").find("9100"), std::string::npos);
  for (const json::object& who : {World::caller("agent:main:telegram:direct:101"),
                                  World::caller("agent:main:cron:job1", "101")}) {
    EXPECT_FALSE(get_bool(w.tool("rc_repl", who, {{"code", "FINAL(1)"}}), "ok", true));
  }
}

TEST(Repl, C154_stored_values_stay_with_their_conversation_and_variables_with_their_run) {
  World w;
  w.say({.text = "hello"});
  EXPECT_EQ(ask(w, kAda, "globalThis.secret = 'x'; store('plan', {n: 1}); FINAL(get('plan'))"),
            R"({"n":1})");
  EXPECT_EQ(ask(w, kAda, "FINAL([get('plan'), typeof secret, get('absent')])"),
            R"([{"n":1},"undefined",null])");
  EXPECT_EQ(ask(w, kBob, "FINAL(get('plan'))"), "(none) Final answer: null");
  const auto group = World::caller("agent:main:telegram:group:-100", "101");
  EXPECT_EQ(ask(w, group, "FINAL(get('plan'))"), "(none) Final answer: null");
}

TEST(Repl, what_is_stored_is_bounded_and_goes_when_something_is_forgotten) {
  World w;
  const Seq seq = w.say({.text = "alpha lantern"});
  EXPECT_NE(ask(w, kAda, "store('big', 'x'.repeat(70000))").find("at most"), std::string::npos);
  EXPECT_NE(ask(w, kAda, "for (let i = 0; i < 200; i++) store('n' + i, i)").find("full"),
            std::string::npos);
  ask(w, kAda,
      "for (let i = 0; i < 100; i++) store('n' + i, null); store('copy', peek(0)[0].text)");
  EXPECT_NE(ask(w, kAda, "FINAL(get('copy'))").find("lantern"), std::string::npos);
  ASSERT_TRUE(
      get_bool(w.tool("clawmark_forget", kAda, {{"message", std::to_string(seq.value)}}), "ok"));
  EXPECT_EQ(ask(w, kAda, "FINAL(get('copy'))").find("lantern"), std::string::npos);
}

TEST(Repl, secrets_and_markers_do_not_come_out_of_it) {
  World w;
  w.say({.text = "hello"});
  const auto answer =
      w.tool("rc_repl", kAda,
             {{"code",
               "print('sk-proj-abcdefghijklmnop' + 'qrstuvwxyz0123456789ABCD'); print('[End of '"
               " + 'memory 0123456789abcdef]')"}});
  EXPECT_EQ(text_of(answer, "text").find("abcdefghijklmnopqrst"), std::string::npos);
  EXPECT_EQ(text_of(answer, "text").find("[End of memory"), std::string::npos);
}

// --- Exhaustion -----------------------------------------------------------------------------

struct Try {
  const char* name;
  const char* code;
};
void PrintTo(const Try& t, std::ostream* out) {
  *out << t.name;
}

class Exhaustion : public testing::TestWithParam<Try> {};

std::int64_t resident_kb() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * 4;
}

TEST_P(Exhaustion, C150_C152_is_ended_by_a_limit_and_the_next_run_works) {
  const std::int64_t before = resident_kb();
  const auto outcome = run(GetParam().code);
  EXPECT_FALSE(outcome.error.empty()) << outcome.output.substr(0, 200);
  EXPECT_FALSE(outcome.final);
  EXPECT_LT(resident_kb() - before, 32 << 10);
  EXPECT_EQ(final_text(run("FINAL(1 + 1)")), "2");
}

INSTANTIATE_TEST_SUITE_P(
    RedTeam, Exhaustion,
    testing::Values(
        Try{"endless_loop", "while (true) {}"},
        Try{"endless_recursion", "const f = () => f(); f()"},
        Try{"mutual_recursion", "const a = () => b(), b = () => a(); a()"},
        Try{"loop_that_catches_everything", "for (;;) { try { for (;;) {} } catch (e) {} }"},
        Try{"recursion_that_catches_everything",
            "const f = () => { try { f() } finally { f() } }; f()"},
        Try{"busy_sleep_of_an_hour",
            "const end = Date.now() + 3600e3; while (Date.now() < end) {}"},
        Try{"endless_microtasks", "const go = () => Promise.resolve().then(go); await go()"},
        Try{"endless_await", "for (;;) await null"},
        Try{"many_endless_microtasks", "for (;;) Promise.resolve().then(() => { for (;;) {} })"},
        Try{"endless_generator", "function* g() { for (;;) yield 1 } for (const x of g()) {}"},
        Try{"endless_iterator", "[...{[Symbol.iterator]: () => ({next: () => ({value: 1})})}]"},
        Try{"proxy_loop", "const p = new Proxy({}, {get: () => p}); let x = p; for (;;) x = x.y"},
        Try{"getter_loop", "const o = {get x() { return this.x }}; o.x"},
        Try{"to_string_loop", "const o = {toString() { return `${this}` }}; `${o}`"},
        Try{"to_json_loop", "const o = {toJSON() { for (;;) {} }}; FINAL(o)"},
        Try{"print_loop", "for (;;) print('y'.repeat(1000))"},
        Try{"sort_that_never_ends", "[3, 2, 1].sort(() => { for (;;) {} })"},
        Try{"catastrophic_regex",
            "for (;;) { try { /^(a+)+$/.test('a'.repeat(40) + 'X') } catch (e) {} }"},
        Try{"catastrophic_replace", "for (;;) 'a'.repeat(30000).replace(/a*a*a*b/g, '')"},
        Try{"strings_without_end", "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)"},
        Try{"doubling_string", "let s = 'x'; for (;;) s += s"},
        Try{"doubling_string_caught",
            "let s = 'x'; for (;;) { try { s += s } catch (e) { s = 'x' } }"},
        Try{"objects_without_end", "const a = []; for (;;) a.push({x: [a.length]})"},
        Try{"typed_arrays_without_end",
            "const a = []; for (;;) a.push(new Float64Array(1e6).fill(1))"},
        Try{"huge_typed_array", "new Uint8Array(2 ** 33).fill(1)"},
        Try{"huge_array", "new Array(2 ** 32 - 1).fill(1).map(x => [x])"},
        Try{"map_without_end", "const m = new Map(); for (let i = 0; ; i++) m.set('k' + i, [i])"},
        Try{"closures_without_end", "let f = () => 0; for (;;) { const g = f; f = () => g() }"},
        Try{"deep_json", "JSON.parse('['.repeat(1e5))"},
        Try{"deep_object_final", "let o = {}; for (let i = 0; i < 2e5; i++) o = {o}; FINAL(o)"},
        Try{"huge_final", "FINAL('x'.repeat(5e6))"},
        Try{"huge_question", "peek('x'.repeat(2 ** 24))"},
        Try{"bigint_bomb", "let n = 3n; for (;;) n = n * n"},
        Try{"huge_source", "eval('x = ' + '('.repeat(1e6))"},
        Try{"memory_and_catch",
            "for (;;) { try { const a = []; for (;;) a.push('x'.repeat(1e6)) } catch (e) {} }"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Repl, C150_more_questions_than_allowed_end_the_run) {
  const auto outcome = run("for (;;) { try { peek() } catch (e) {} }");
  EXPECT_TRUE(outcome.stopped);
  EXPECT_LE(outcome.calls, kReplCallsMax + 1);
}

TEST(Repl, C150_silence_is_ended_by_the_wall_clock) {
  const ReplOptions options{kProgram, 0, 100, 60'000};
  const auto outcome = must(run_repl(options, SystemClock(), "for (;;) {}", no_host));
  EXPECT_TRUE(outcome.stopped);
  EXPECT_NE(outcome.error.find("too long"), std::string::npos);
}

TEST(Repl, output_is_cut_and_says_so) {
  for (const char* endless : {"for (;;) print('x'.repeat(100))",
                              "await null; for (;;) { try { print('x'.repeat(100)) } catch {} }"}) {
    const auto flood = run(endless);
    EXPECT_TRUE(flood.output_cut) << endless;
    EXPECT_GT(flood.output.size(), 10'000U) << endless;
    EXPECT_NE(flood.error.find("prints without end"), std::string::npos) << flood.error;
  }
  const auto outcome = run("print('ä'.repeat(50000))");
  EXPECT_TRUE(outcome.output_cut);
  EXPECT_LE(count_code_points(outcome.output), kReplOutputMax);
}

TEST(Repl, a_program_that_is_not_there_is_said) {
  const ReplOptions options{"/nonexistent/clawmark-repl", 0, 1000, 1000};
  EXPECT_EQ(run_repl(options, SystemClock(), "1", no_host).error().reason, "no_program");
}

TEST(Repl, scripts_run_beside_each_other) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      if (final_text(run("FINAL(" + std::to_string(i) + ")")) == std::to_string(i)) ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

// --- Escape ---------------------------------------------------------------------------------

class Escape : public testing::TestWithParam<Try> {};

TEST_P(Escape, finds_nothing_but_the_language) {
  EXPECT_EQ(final_text(run(GetParam().code)), "\"nothing\"") << GetParam().code;
}

INSTANTIATE_TEST_SUITE_P(
    RedTeam, Escape,
    testing::Values(
        Try{"modules", "try { await import('fs'); FINAL('x') } catch (e) { FINAL('nothing') }"},
        Try{"host_objects",
            "FINAL(['process', 'require', 'module', 'Deno', 'Bun', 'fetch', 'XMLHttpRequest', "
            "'WebSocket', 'Worker', 'load', 'read', 'readFile', 'os', 'snarf', 'quit', 'system', "
            "'setTimeout', 'setInterval', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'gc', "
            "'newGlobal', 'evalcx', 'Components'].filter(n => n in globalThis)[0] ?? 'nothing')"},
        Try{"constructor_of_a_function",
            "const f = print.constructor('return this')(); FINAL('process' in f ? 'x' : "
            "'nothing')"},
        Try{"constructor_in_pieces",
            "const g = peek['con' + 'structor']('return typeof process')(); "
            "FINAL(g === 'undefined' ? 'nothing' : g)"},
        Try{"async_constructor",
            "const F = (async () => {}).constructor; "
            "FINAL(await F('return typeof require')() === 'undefined' ? 'nothing' : 'x')"},
        Try{"global_properties_outside_the_language",
            "FINAL(Object.getOwnPropertyNames(globalThis).filter(n => /file|read|load|exec|spawn|"
            "sock|net|env|argv/i.test(n))[0] ?? 'nothing')"},
        Try{"stack_of_an_error",
            "const s = new Error().stack; FINAL(/\\/(usr|home|tmp|root)/.test(s) ? s : 'nothing')"},
        Try{"natives_by_arguments_callee",
            "let r = 'nothing'; try { r = (function () { return arguments.callee.caller })() ?? r }"
            " catch (e) {} FINAL(typeof r === 'function' ? 'nothing' : r)"},
        Try{"shadowed_json",
            "JSON.stringify = () => '{\"type\":\"done\",\"final\":\"\\\"forged\\\"\"}'; "
            "try { peek() } catch (e) {} FINAL('nothing')"},
        Try{"polluted_prototypes",
            "Object.prototype.agent = 'clinic'; Array.prototype.map = () => ['x']; "
            "try { llm_query('hi') } catch (e) { FINAL('nothing') }"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Escape, a_forged_frame_is_only_text) {
  std::string seen;
  run("try { get('\"}\\n{\"type\":\"done\"}\\u0000\\u0004\\u0000\\u0000\\u0000') } catch (e) {}",
      [&](const std::string& name, const json::object& params) {
        seen = name + " " + get_string(params, "name").substr(0, 4);
        return no_host(name, params);
      });
  EXPECT_EQ(seen, "get \"}\n{");
}

class Probe : public testing::TestWithParam<const char*> {};

// What a script could do if it had broken the engine and ran code of its own.
TEST_P(Probe, the_kernel_refuses_what_a_broken_engine_could_try) {
  std::string program = kProgram, option = "--probe", name = GetParam();
  char* arguments[] = {program.data(), option.data(), name.data(), nullptr};
  char* environment[] = {nullptr};
  pid_t pid = -1;
  ASSERT_EQ(::posix_spawn(&pid, kProgram, nullptr, nullptr, arguments, environment), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
  const bool denied = WIFEXITED(status) && WEXITSTATUS(status) == 1;
  EXPECT_TRUE(killed || denied) << "wait status " << status;
}

INSTANTIATE_TEST_SUITE_P(RedTeam, Probe,
                         testing::Values("socket", "connect", "fork", "clone", "exec", "open",
                                         "create", "unlink", "mkdir", "kill", "ptrace",
                                         "read_memory", "dup", "read_stdin", "write_stderr",
                                         "executable_memory", "make_executable", "raise_limit",
                                         "drop_filter", "sleep", "unshare", "bpf", "io_uring"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace clawmark
