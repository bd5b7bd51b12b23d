package io.easykit.console.browser;

import static io.easykit.console.browser.Browser.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

/** The pages in a real browser while replies are late, cut off, refused, or not from the console. */
class TroubleInBrowserTests {

    /**
     * Counts the calls of the page, and answers the next ones of {@code answers[name]} instead of the server. The page refreshes
     * only when a test tells it to: a refresh of its own would take an answer.
     */
    private static final String ANSWERS =
            """
            window.every = 3600000;
            window.answers = {};
            window.calls = [];
            window.reply = (status, body, type = 'application/json') => new Response(
              typeof body === 'string' ? body : JSON.stringify(body), {status, headers: {'Content-Type': type}});
            window.problem = (status, kind) => reply(
              status, {status, kind, detail: 'A test refuses it.', node: 'test'}, 'application/problem+json');
            window.late = () => new Promise(resolve => { window.send = resolve; });
            const real = window.fetch;
            window.fetch = async (url, options) => {
              const name = String(url).replace(/.*\\/api\\/|\\?.*/g, '');
              calls.push((options?.method || 'GET') + ' ' + name);
              const answer = answers[name]?.shift();
              return answer ? answer(url, options) : real(url, options);
            };
            """;

    /** Values of a topic that Redis may refuse, or that need a sample, a pause or a limit. */
    private static final String NUMBERS = "pause oldestDue lateSeconds rates limits series value limit";

    private static final String OF_JOBS = "endedAt group olderThanSeconds text diedUntil perSecond stopAt problem";

    private static Shop shop;
    private static Browser browser;

    @BeforeAll
    static void start() {
        shop = new Shop();
        shop.addDead("back-1", "back-2", "back-3");
        browser = new Browser(shop.console());
        browser.before(ANSWERS);
    }

    @AfterAll
    static void stop() {
        browser.close();
        shop.close();
    }

    @BeforeEach
    void load() {
        browser.become(1280, false, "en");
        browser.open("#/queues");
    }

    @AfterEach
    void noErrors() {
        assertThat(browser.errors()).isEmpty();
    }

    /** @param answers functions of the page, for one call each */
    private static void answer(String call, String... answers) {
        browser.script("answers['" + call + "'] = [" + String.join(", ", answers) + "]");
    }

    /** A page may read once more than a test sees, for example after a change. */
    private static void answerAll(String call, String answer) {
        browser.script("answers['" + call + "'] = {shift: () => " + answer + "}");
    }

    private static int calls(String call) {
        return Integer.parseInt(browser.script("return calls.filter(call => call === '" + call + "').length"));
    }

    private static void refreshTwice() {
        browser.refresh();
        browser.refresh();
    }

    private static void pause() {
        browser.open("#/topic?topic=returns");
        browser.click("Pause…");
        browser.click("Pause");
    }

    @Test
    void repeatsAChangeOnceIfItsTokenMayBeOld() {
        answerAll(
                "session",
                """
                        () => reply(200, {node: 'test', features: ['queues'], actions: ['pause'],
                          csrf: {header: 'X-CSRF-TOKEN', token: String(Math.random())}})""");
        answerAll("pause", "() => reply(403, {status: 403, error: 'Forbidden'})");

        pause();

        browser.awaitText("dialog [role=alert]", "not from the console (HTTP 403)");
        assertThat(calls("POST pause")).isEqualTo(2);
    }

    /** A chain for single-page applications refuses the token of the session, which is masked. */
    @Test
    void sendsTheValueOfTheCookieIfTheTokenOfTheSessionIsRefused() {
        browser.script("document.cookie = 'XSRF-TOKEN=plain'");
        answerAll(
                "session",
                """
                        () => reply(200, {node: 'test', features: ['queues'], actions: ['pause'],
                          csrf: {header: 'X-XSRF-TOKEN', token: 'masked'}})""");
        answerAll(
                "pause",
                """
                        (url, {headers}) => headers['X-XSRF-TOKEN'] === 'plain'
                          ? reply(200, {node: 'test', now: Date.now(), changedShards: 1}) : reply(403, {status: 403, error: 'Forbidden'})""");
        try {
            pause();
            browser.awaitText("#notes", "Pause returns ✓");
            assertThat(calls("POST pause")).isEqualTo(3);

            pause();
            await().until(() ->
                    calls("POST pause") == 4 && browser.all("dialog[open]").isEmpty());
        } finally {
            browser.script("document.cookie = 'XSRF-TOKEN=; max-age=0'");
        }
    }

    /** The cookie may be of another chain, which is the only one to check tokens. */
    @Test
    void repeatsARefusedChangeTwiceAtMost() {
        browser.script("document.cookie = 'XSRF-TOKEN=plain'");
        answerAll("pause", "() => reply(403, {status: 403, error: 'Forbidden'})");
        try {
            pause();

            browser.awaitText("dialog [role=alert]", "not from the console (HTTP 403)");
            assertThat(calls("POST pause")).isEqualTo(3);
        } finally {
            browser.script("document.cookie = 'XSRF-TOKEN=; max-age=0'");
        }
    }

    @Test
    void doesNotRepeatAChangeThatTheConsoleRefuses() {
        answerAll("pause", "() => problem(403)");

        pause();

        browser.awaitText("dialog [role=alert]", "A test refuses it.");
        assertThat(calls("POST pause")).isEqualTo(1);
    }

    @Test
    void goesOnAfterAReplyThatWasCutOff() {
        answer(
                "topics",
                "() => new Response(new ReadableStream({start: body => body.error(new TypeError('cut'))}),"
                        + " {headers: {'Content-Type': 'application/json'}})");

        browser.refresh();
        browser.awaitText("#notes .bad", "No connection.");
        browser.refresh();
        await().until(() -> browser.all("#notes .bad, main.stale").isEmpty());
    }

    @Test
    void goesOnAfterAnErrorOfItsOwn() {
        answer("topics", "() => reply(200, {node: 'test', now: Date.now(), topics: [{}]})");

        browser.refresh();
        browser.awaitText("#notes .bad", "The page failed.");
        browser.refresh();
        await().until(() -> browser.all("#notes .bad, main.stale").isEmpty());
        assertThat(browser.errors()).isNotEmpty().allSatisfy(error -> assertThat(error)
                .contains("TypeError"));
    }

    /**
     * Passes the replies of the server on without the values of these fields, on their upper level only if it is not the name
     * of the node.
     */
    private static void answerWithout(String call, String fields) {
        answerAll(
                call,
                """
                        async (url, options) => reply(200, JSON.parse(await (await real(url, options)).text(), function (name, value) {
                          return '%s'.split(' ').includes(name) && !(this.now && name === 'node') ? null : value;
                        }))"""
                        .formatted(fields));
    }

    @ParameterizedTest
    @CsvSource({
        "#/caches,                                     caches,   outbox source key staleness settings",
        "#/explain?cluster=default&prefix=brand&part=1, explain, at nextRead",
        "#/queues,                                     topics,   " + NUMBERS,
        "#/topic?topic=returns,                        topic,    " + NUMBERS + " drainSeconds settings",
        "#/topic?topic=returns&tab=settings,           topic,    source 58 59",
        "#/topic?topic=returns&tab=dead,               messages, next rank shard due claimedAt owner group damage preview",
        "#/message?topic=returns&id=back-3,              message,"
                + " due claimedAt owner firstError lastError retryText key damage body group readable uneditable",
        "#/nodes,                                      nodes,    pause by at",
        "#/jobs,                                       jobs,     node note " + OF_JOBS,
        "#/audit,                                      audit,    note filter next"
    })
    void showsAReplyWithoutItsOptionalValues(String hash, String call, String fields) {
        browser.result("fetch('api/jobs', {method: 'POST', body: '{\"topic\": \"returns\", \"action\": \"group\"}',"
                + " headers: {'Content-Type': 'application/json', 'X-Easykit-Console': '1'}}).then(done)");
        answerWithout(call, fields);

        browser.open(hash);

        assertThat(browser.text("#notes .bad")).isEmpty();
        assertThat(browser.script("return document.getElementById('main').innerHTML"))
                .doesNotContain("null", "undefined", "NaN");
    }

    @Test
    void keepsAFilterOnlyWhereItIsShown() {
        answerAll("topics", topics(9));
        browser.refresh();
        browser.fill("main [type=search]", "Topic-7");
        await().until(() -> browser.all("tbody tr").size() == 1);

        browser.open("#/nodes");
        browser.open("#/queues");
        assertThat(browser.script("return document.querySelector('main [type=search]').value"))
                .isEqualTo("Topic-7");
        assertThat(browser.all("tbody tr")).hasSize(1);

        answerAll("topics", topics(8));
        browser.refresh();
        await().until(() -> browser.all("main [type=search]").isEmpty());
        assertThat(browser.all("tbody tr")).hasSize(8);
    }

    /** A reply with topics whose numbers Redis refuses. */
    private static String topics(int count) {
        return "() => reply(200, {node: 'test', now: Date.now(), nodeCount: 1, topics: [...Array(" + count
                + ").keys()].map(i => ({topic: 'topic-' + i, shards: 1, places: 0, listeningNodes: 0, refused: ['no']}))})";
    }

    @Test
    void showsItsKeysBeforeTheFirstReply() {
        browser.before("answers.session = location.hash === '#/help' ? [late] : []");
        browser.script("location.hash = '#/help'");
        browser.reload();
        await().until(() -> calls("GET session") == 1);
        browser.type("?");

        browser.awaitText("dialog", "Keys");
    }

    @Test
    void showsTheFailureOfAChangeWhoseDialogWasClosed() {
        answer("pause", "late");
        pause();
        await().until(() -> calls("POST pause") == 1);
        browser.type(Keys.ESCAPE);
        await().until(() -> browser.all("dialog[open]").isEmpty());

        browser.script("send(problem(409))");

        browser.awaitText("#notes .bad", "Pause returns: A test refuses it.");
    }

    @Test
    void saysThatAChangeWithoutAReplyMayHaveBeenMade() {
        answer("pause", "() => Promise.reject(new DOMException('late', 'TimeoutError'))");

        pause();

        browser.awaitText("dialog [role=alert]", "The change may have been made");
    }

    @Test
    void saysThatAnInvalidationWaitsForRedis() {
        browser.open("#/explain?cluster=default&prefix=product&part=1");
        answer("evict", "() => reply(200, {node: 'test', now: Date.now(), acknowledged: false})");
        browser.click("Evict…");
        browser.click("Evict");

        browser.awaitText("#notes", "This node delivers it when Redis answers.");
        assertThat(browser.text("#notes")).doesNotContain("The entry is invalid.");
    }

    @Test
    void showsAPageThatIsNotThereAndReadsItOnce() {
        browser.open("#/job?id=nothing");
        browser.awaitText("h1", "Not found.");
        refreshTwice();

        assertThat(browser.text("#notes .bad"))
                .contains("There is no such job.")
                .doesNotContain("Trying again", "No answer");
        assertThat(browser.text("#head")).contains("Error").doesNotContain("No answer");
        assertThat(calls("GET job")).isEqualTo(1);
        browser.open("#/queues");
        browser.awaitText("#head", "Live");
    }

    @Test
    void endsRefreshingWhenItsMessageIsGone() {
        browser.open("#/message?topic=returns&id=nothing");
        browser.awaitText("#main .note", "The message is gone");
        refreshTwice();
        assertThat(calls("GET message")).isEqualTo(1);

        browser.type("r");
        await().until(() -> calls("GET message") == 2);
    }

    @Test
    void endsRefreshingWhenItsUserMayNotLook() {
        int status = 403;
        for (String text : List.of("Not permitted.", "Not logged in.")) {
            int before = calls("GET topics");
            answer(
                    "topics",
                    Collections.nCopies(9, "() => problem(" + status + ")").toArray(String[]::new));
            browser.refresh();
            browser.awaitText("#notes .bad", text);
            refreshTwice();
            assertThat(Integer.parseInt(browser.script("return 9 - answers.topics.length")))
                    .as("calls after %s, of %s before", status, before)
                    .isEqualTo(1);
            answer("topics");
            browser.type("r");
            await().until(() -> browser.all("#notes .bad").isEmpty());
            status = 401;
        }
    }

    @Test
    void triesAgainWhenItsNodeIsBusy() {
        answer("topics", "() => problem(429, 'busy')");
        browser.refresh();

        browser.awaitText("#notes .bad", "Busy.");
        assertThat(browser.text("#notes .bad")).contains("Trying again");
        browser.refresh();
        await().until(() -> browser.all("#notes .bad").isEmpty());
    }

    @Test
    void goesOnWatchingATrialAfterRepliesOfOthers() {
        browser.open("#/topic?topic=returns&tab=dead");
        browser.click("Send back all");
        answer(
                "message",
                "() => reply(404, 'no route', 'text/html')",
                "() => problem(503, 'redis')",
                "() => problem(404)",
                "late");
        browser.click("Send one");
        await().atMost(Duration.ofSeconds(30)).until(() -> calls("GET message") == 4);
        assertThat(browser.text("dialog .chip")).isEqualTo("Waiting for its run…");
        assertThat(browser.text("dialog [role=alert]")).contains("A test refuses it.");

        browser.script("send(problem(404, 'gone'))");

        browser.awaitText("dialog .chip", "Gone: it ran, or was removed");
        assertThat(browser.all("dialog [role=alert]")).isEmpty();
    }

    /** It would be recorded with the name of a user who has given it up. */
    @ParameterizedTest
    @ValueSource(strings = {"[{id: 'back-1', diedAt: 1}]", "[]"})
    void endsATrialWhoseDialogWasClosedBeforeItHasFoundAMessage(String found) {
        browser.open("#/topic?topic=returns&tab=groups");
        browser.click("Send back all");
        answer(
                "messages",
                """
                url => {
                  window.size = url.searchParams.get('size');
                  return reply(200, {node: 'test', now: Date.now(), messages: [], next: 'a', refused: []});
                }""",
                "late");
        browser.click("Send one");
        await().until(() -> calls("GET messages") == 2);
        browser.type(Keys.ESCAPE);
        await().until(() -> browser.all("dialog[open]").isEmpty());

        browser.script(
                "send(reply(200, {node: 'test', now: Date.now(), messages: " + found + ", next: 'b', refused: []}))");
        refreshTwice();

        assertThat(calls("POST redrive")).isZero();
        assertThat(calls("GET messages")).isEqualTo(2);
        assertThat(browser.script("return window.size")).isEqualTo("100");
    }

    @Test
    void givesNoCountOfGroupsIfOnlyAPartWasRead() {
        answer(
                "groups",
                """
                () => reply(200, {node: 'test', now: Date.now(), scanned: 3, total: 9, refused: [],
                  groups: [{group: 'g', title: 'E', frame: 'f', count: 3, firstAt: 1, lastAt: 2}]})""");
        browser.open("#/topic?topic=returns&tab=groups");

        assertThat(browser.text("tbody button")).isEqualTo("Send back all…\nPurge all…");
    }

    @Test
    void triesTheNextMessageThatASearchFoundIfOneIsNotDeadAnyMore() {
        answer(
                "job",
                """
                () => reply(200, {node: 'test', now: Date.now(), job: {id: '1', topic: 'returns', action: 'search', state: 'done',
                  text: 'a', matched: 2, scanned: 2, total: 2, matches: [{id: 'first', diedAt: 1}, {id: 'second', diedAt: 2}]}})""");
        browser.open("#/job?id=1");
        browser.click("Send back all (2)");
        answer(
                "redrive",
                "() => reply(200, {node: 'test', moved: 0, leftOut: []})",
                "() => reply(200, {node: 'test', moved: 1, leftOut: []})");
        answer("message", "late");
        browser.click("Send one");
        browser.awaitText("dialog [role=alert]", "Try again.");
        browser.click("Send one");

        browser.awaitText("dialog .card", "second");
    }

    @Test
    void showsOnlyTheSizeOfAnOldMessageToUsersWhoMayNotSaveBodies() {
        answer(
                "audit",
                """
                () => reply(200, {node: 'test', now: Date.now(), shared: true, entries: [
                  {id: '1', at: 1, who: 'ada', action: 'replace', outcome: 'done', old: {size: 6}}]})""");
        browser.open("#/audit");

        assertThat(browser.script("return document.querySelector('details pre').textContent"))
                .isEqualTo("6 B");
    }

    @Test
    void selectsAllOfAGroupByItsKeyAlone() {
        answer(
                "groups",
                """
                () => reply(200, {node: 'test', now: Date.now(), scanned: 3, total: 3, refused: [], groups: [
                  {group: 'g', title: 'E', text: 'order #', frame: 'f', count: 3, firstAt: 1, lastAt: 2}]})""");
        answer(
                "jobs",
                """
                (url, {body}) => {
                  window.select = JSON.stringify(JSON.parse(body).select);
                  return problem(409);
                }""");
        browser.open("#/topic?topic=returns&tab=groups");
        browser.click("Send back all");
        browser.click("Send without a trial");
        browser.awaitText("dialog [role=alert]", "A test refuses it.");

        assertThat(browser.script("return window.select")).isEqualTo("{\"group\":\"g\"}");
    }

    @Test
    void pausesNoListenerWithoutItsName() {
        String listener = "topic: 'returns', busy: 0, places: 1, oldestRunSeconds: 0}";
        answer(
                "nodes",
                "() => reply(200, {node: 'test', now: Date.now(), nodes: [{node: 'a', listeners: [" + "{listener: '', "
                        + listener + ", {listener: 'close', " + listener + "]}]})");
        browser.open("#/nodes");

        assertThat(browser.all("tbody tr")).hasSize(2);
        assertThat(browser.all("tbody button")).hasSize(1);
    }

    @Test
    void searchesForAnIdOnce() {
        browser.open("#/find?id=nothing");
        refreshTwice();

        assertThat(calls("GET find")).isEqualTo(1);
    }

    @Test
    void staysWhereItsUserIsWhenASearchEnds() {
        answer("find", "late");
        browser.script("location.hash = '#/find?id=back-1'");
        await().until(() -> calls("GET find") == 1);
        browser.script("location.hash = '#/nodes'");

        browser.script(
                "send(reply(200, {node: 'test', now: Date.now(), messages: [{topic: 'returns', state: 'dead'}]}))");

        browser.awaitText("h1", "Nodes");
        assertThat(browser.script("return location.hash")).isEqualTo("#/nodes");
    }

    @Test
    void readsTheGroupsBeforeTheListOfOne() {
        browser.open("#/topic?topic=returns&tab=groups");
        int before = calls("GET messages");
        answer("groups", "late");
        browser.script("document.querySelector('tbody a').click()");
        await().until(() -> calls("GET groups") == 2);
        assertThat(calls("GET messages")).isEqualTo(before);

        browser.script(
                "send(reply(200, {node: 'test', now: Date.now(), scanned: 3, total: 3, refused: [], groups: []}))");
        await().until(() -> calls("GET messages") == before + 1);
    }

    @Test
    void readsTheListOfAGroupSeldom() {
        browser.open("#/topic?topic=returns&tab=groups");
        browser.open(browser.script("return new URL(document.querySelector('tbody a').href).hash"));
        int before = calls("GET messages");
        int refreshes = calls("GET topic");

        for (int i = 0; i < 3; i++) {
            browser.refresh();
        }
        assertThat(calls("GET topic")).isEqualTo(refreshes + 3);
        assertThat(calls("GET messages")).isEqualTo(before);
        browser.type("r");
        await().until(() -> calls("GET messages") == before + 1);
    }

    /** The reply of the server with other values of these fields. */
    private static String changed(String fields) {
        return "async (url, options) => reply(200, {...await (await real(url, options)).json(), " + fields + "})";
    }

    private static final String OLD_DEATH =
            "{id: 'back-1', incarnation: 'a', state: 'dead', diedAt: 4000, failures: 1, headers: [], size: 1, preview: 'x'}";

    /** A page of a topic with many shards is of one of them. */
    @Test
    void countsTheMessagesOfTheTopicThoughThePageIsOfOneShard() {
        answerAll("topic", changed("dead: 768, waiting: 70, shards: 64"));
        answerAll("messages", changed("total: 1, shard: 3, messages: [" + OLD_DEATH + "]"));
        browser.open("#/topic?topic=returns&tab=dead");

        assertThat(browser.text("main .bar")).contains("768 in all");
        assertThat(browser.text("main .actions")).contains("Send back all (768)…", "Purge all (768)…");
        browser.click("Send back all");
        answer(
                "messages",
                "() => reply(200, {node: 'test', now: Date.now(), messages: [" + OLD_DEATH + "], refused: []})");
        answer("redrive", "() => reply(200, {node: 'test', moved: 1, leftOut: []})");
        answer("message", "() => problem(404, 'gone')");
        browser.click("Send one");
        browser.awaitText("dialog .chip", "Gone: it ran, or was removed");
        assertThat(browser.text("dialog .buttons")).contains("Send the others (767)");
        browser.type(Keys.ESCAPE);
        answerAll("messages", changed("total: 1, shard: 3"));
        browser.open("#/topic?topic=returns&tab=waiting");
        assertThat(browser.text("main .bar")).contains("70 in all");
    }

    /** Answers the next start of a job with a refusal, and keeps what the page has sent. */
    private static void keepTheJob() {
        browser.script("window.job = {}");
        answer("jobs", "(url, {body}) => { window.job = JSON.parse(body); return problem(409); }");
    }

    private static String keptUntil() {
        browser.awaitText("dialog [role=alert]", "A test refuses it.");
        return browser.script("return String(window.job.diedUntil)");
    }

    /** A list stands still while messages are selected, so it may be old. */
    @Test
    void selectsNoDeathsAfterTheListWasRead() {
        answerAll("messages", changed("now: 5000"));
        browser.open("#/topic?topic=returns&tab=dead");
        keepTheJob();
        browser.click("Purge all");
        browser.type("returns");
        browser.click("Purge (");
        assertThat(keptUntil()).isEqualTo("5000");
        browser.type(Keys.ESCAPE);
        keepTheJob();
        browser.click("Send back all");
        browser.click("Send without a trial");
        assertThat(keptUntil()).isEqualTo("5000");
    }

    @Test
    void selectsNoDeathsAfterTheGroupsWereRead() {
        answerAll(
                "groups",
                """
                        () => reply(200, {node: 'test', now: 6000, scanned: 3, total: 3, refused: [],
                          groups: [{group: 'g', title: 'E', frame: 'f', count: 3, firstAt: 1, lastAt: 2}]})""");
        browser.open("#/topic?topic=returns&tab=groups");
        keepTheJob();
        browser.click("Purge all (3)");
        browser.type("returns");
        browser.click("Purge (3)");
        assertThat(keptUntil()).isEqualTo("6000");
    }

    private static String job(String fields) {
        return "() => reply(200, {node: 'test', now: Date.now(), job: {id: '1', topic: 'returns', by: 'ada', state: 'done',"
                + " createdAt: 7000, endedAt: 8000, scanned: 3, total: 3, matched: 2, done: 0, missed: 0, deaths: 0, "
                + fields
                + "}})";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "action: 'group', groups: [{group: 'g', title: 'E', frame: 'f', count: 2, firstAt: 1, lastAt: 2}]",
                "action: 'search', text: 'a', matches: [{id: 'back-1', diedAt: 1}, {id: 'back-2', diedAt: 2}]"
            })
    void selectsNoDeathsAfterTheJobThatHasFoundThem(String found) {
        answerAll("job", job(found));
        browser.open("#/job?id=1");
        keepTheJob();
        browser.click("Purge all (2)");
        browser.type("returns");
        browser.click("Purge (2)");
        assertThat(keptUntil()).isEqualTo("7000");
    }

    /** The trial does not take a message that has died since, either. */
    @Test
    void triesNoMessageThatDiedAfterTheListWasRead() {
        answerAll("messages", changed("now: 5000"));
        browser.open("#/topic?topic=returns&tab=dead");
        browser.click("Send back all");
        answer("messages", changed("messages: [" + OLD_DEATH.replace("4000", "5001") + "], next: null"));
        browser.click("Send one");

        browser.awaitText("dialog [role=alert]", "It is not dead any more.");
        assertThat(calls("POST redrive")).isZero();
    }

    @ParameterizedTest
    @CsvSource({"redrive, false", "purge, false", "search, true"})
    void offersChangesOfWhatAJobHasFoundOnlyAfterASearch(String action, boolean offered) {
        answerAll("job", job("action: '" + action + "', text: 'a'"));
        browser.open("#/job?id=1");

        assertThat(browser.text("main").contains("Purge all")).isEqualTo(offered);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ", matches: []"})
    void triesNoOtherMessageThanThoseThatASearchHasFound(String matches) {
        answerAll("job", job("action: 'search', text: 'a'" + matches));
        browser.open("#/job?id=1");
        browser.click("Send back all (2)");
        browser.click("Send one");

        browser.awaitText("dialog [role=alert]", "It is not dead any more.");
        assertThat(calls("POST redrive")).isZero();
    }

    @ParameterizedTest
    @CsvSource({"dead, groups", "lateness, ''"})
    void linksAlertsToAListThatThereIs(String kind, String tab) {
        answerAll(
                "topics",
                """
                        () => reply(200, {node: 'test', now: Date.now(), nodeCount: 1, topics: [{topic: 'returns', shards: 1,
                          alerts: [{kind: '%s', text: 'late'}]}]})"""
                        .formatted(kind));
        browser.refresh();
        browser.awaitText(".alerts", "late");
        browser.open(browser.script("return new URL(document.querySelector('.alerts a').href).hash"));

        assertThat(browser.script("return new URLSearchParams(location.hash.split('?')[1]).get('tab') || ''"))
                .isEqualTo(tab);
        assertThat(browser.text("main nav.tabs [aria-current]")).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, Pause…", "1, Pause… Resume…", "2, Resume…"})
    void pausesAndResumesATopicThatIsPausedInPart(int paused, String buttons) {
        answerAll("topic", changed("shards: 2, pausedShards: " + paused));
        browser.open("#/topic?topic=returns");

        assertThat(browser.text("main .title button").replace('\n', ' ')).isEqualTo(buttons);
    }

    @Test
    void forcesTheStateOnTheNodeThatItShows() {
        answerAll("caches", changed("node: 'other'"));
        browser.open("#/caches");
        browser.click("Force…");
        browser.click("Force");

        browser.awaitText("dialog [role=alert]", "another node");
        assertThat(browser.text("dialog [role=alert]")).contains("not other.");
        assertThat(browser.errors()).allSatisfy(error -> assertThat(error).contains("409"));
    }

    @ParameterizedTest
    @CsvSource({"'', Only changes through this node", "'why: \"R\",', Only changes through this node: R"})
    void saysWhyTheAuditIsOfOneNode(String why, String text) {
        answer("audit", "() => reply(200, {node: 'test', now: Date.now(), shared: false, " + why + " entries: []})");
        browser.open("#/audit");

        assertThat(browser.text("main .title .chip")).isEqualTo(text);
    }

    @Test
    void sendsNoBodyThatWasNotEdited() {
        String message =
                """
                () => reply(200, {node: 'test', now: Date.now(), message: {topic: 'returns', id: 'back-1', incarnation: 'a', state: 'dead',
                  diedAt: 1, due: 1, failures: 1, editable: true, headerNames: ['a'], headers: {a: 'b'},
                  body: {kind: 'json', size: 7, shown: 7, text: '{\\r\\n  "a": 1\\r\\n}'}}})""";
        answerAll("message", message);
        browser.script("answers.replace = [1, 2].map(() => (url, {body}) => {"
                + " window.sent = body; return problem(409); })");
        browser.open("#/message?topic=returns&id=back-1");
        browser.click("Edit and send…");
        browser.fill("dialog input[aria-label='Value 1']", "c");
        browser.click("Send back");
        browser.awaitText("dialog [role=alert]", "A test refuses it.");
        assertThat(browser.script("return window.sent")).contains("\"a\":\"c\"").doesNotContain("body");

        browser.fill("dialog textarea", "{}");
        browser.click("Send back");
        await().until(() -> calls("POST replace") == 2);
        assertThat(browser.script("return window.sent")).contains("\"body\":\"{}");
    }

    @ParameterizedTest
    @CsvSource({
        "redrive, '',           Waiting for its run…",
        "purge,   'node: \"a\"', Running",
        "search,  '',           Waiting for its run…"
    })
    void saysThatAJobWaits(String action, String node, String state) {
        answerAll(
                "job",
                job("action: '" + action + "', " + node)
                        .replace("'done'", "'running'")
                        .replace("endedAt: 8000,", ""));
        browser.open("#/job?id=1");

        assertThat(browser.text("main .chip")).isEqualTo(state);
    }
}
