package io.easykit.console.browser;

import static io.easykit.console.browser.Browser.await;
import static io.easykit.console.browser.Browser.message;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** The pages in a real browser, on a real application and Redis. */
class ConsoleInBrowserTests {

    private static final int WIDE = 1280;
    private static final String DEAD = "#/topic?topic=order-close&tab=dead";

    private static Shop shop;
    private static Browser browser;

    @BeforeAll
    static void start() {
        shop = new Shop();
        shop.fill();
        browser = new Browser(shop.console());
    }

    @AfterAll
    static void stop() {
        browser.close();
        shop.close();
    }

    @BeforeEach
    void english() {
        browser.become(WIDE, false, "en");
    }

    @AfterEach
    void noErrors() {
        assertThat(browser.errors()).isEmpty();
        assertThat(browser.requestsElsewhere()).isEmpty();
    }

    @Test
    void noTableOfTheCachesScrollsSideways() {
        browser.open("#/caches");

        assertThat(browser.script("return [...document.querySelectorAll('.scroll')]"
                        + ".map(one => [one.getAttribute('aria-label'), one.scrollWidth - one.clientWidth]).join(' ')"))
                .isEqualTo("Redis clusters,0 Caches,0");
        assertThat(browser.script("return document.querySelector('td span.mono').title"))
                .isEqualTo("@Cacheable io.easykit.console.browser.Shop$Brands.find(int)");
        assertThat(browser.content("td span.mono"))
                .contains("Shop$Products.find(int)")
                .doesNotContain("io.easykit");
    }

    @Test
    void showsAndDropsACacheThatThisNodeOnlyInvalidates() {
        browser.open("#/caches");
        browser.awaitText("tbody", "only invalidated here");
        browser.script("[...document.querySelectorAll('tr')].find(row => row.textContent.startsWith('stock'))"
                + ".querySelector('.danger').click()");
        browser.type("stock");
        browser.click("Drop");

        browser.awaitText("#notes", "All entries are invalid.");
        browser.open("#/explain?cluster=default&prefix=stock");
        browser.awaitText("main", "stock");
    }

    @Test
    void findsADeadLetterAndSendsItBackByKeyboardAlone() {
        browser.open("#/queues");
        for (int i = 0; i < 9 && !browser.focused().equals("invoices"); i++) {
            browser.type("j");
        }
        browser.type(Keys.ENTER);
        browser.awaitText("h1", "invoices");
        tabTo("Dead 2");
        browser.type(Keys.ENTER);
        browser.awaitText("tbody", "invoice-1");
        browser.type("j", "j");
        String id = browser.focused();
        assertThat(id).startsWith("invoice-");
        browser.type("x");
        browser.awaitText(".actions", "1 selected");
        tabTo("Send back…");
        browser.type(Keys.ENTER);
        browser.awaitText("dialog", id);
        browser.type("after the fix", Keys.ENTER);

        browser.awaitText("#notes", "Send back: 1.");
        browser.open("#/audit");
        assertThat(browser.text("tbody tr:first-child")).contains("redrive", "invoices", "after the fix", "Done");
    }

    private static void tabTo(String name) {
        for (int i = 0; i < 60 && !browser.focused().equals(name); i++) {
            browser.type(Keys.TAB);
        }
        assertThat(browser.focused()).isEqualTo(name);
    }

    @Test
    void keepsTheFocusWhileTheListIsReadAgain() {
        browser.open(DEAD);
        browser.refreshOften();
        browser.type("j", "j", "j");
        String row = browser.focused();
        browser.script("window.before = performance.getEntriesByType('resource').length");

        await().until(() -> Boolean.parseBoolean(
                browser.script("return performance.getEntriesByType('resource').length > window.before + 1")));
        assertThat(row).startsWith("close-");
        assertThat(browser.focused()).isEqualTo(row);
    }

    @Test
    void showsTheLimitsOfATopic() {
        browser.open("#/topic?topic=shipping&tab=in-flight");
        browser.awaitText(".facts", "10/s, burst 5 · 2 in flight");
        browser.awaitText(".facts", "Held by limits");
        assertThat(browser.script("return [...document.querySelectorAll('.facts div')].map(one => one.textContent)"
                        + ".filter(text => /^(Places|Held)/.test(text)).join(', ')"))
                .isEqualTo("Places in use2 / 2, Held by limits1");
        browser.awaitText(".title .chip", "Limited");

        browser.open("#/queues");
        browser.awaitText("tbody", "Limited");
    }

    @Test
    void addsShardsToATopic() {
        shop.addDead("growing");
        browser.open("#/topic?topic=returns&tab=settings");
        browser.click("Add shards…");
        browser.awaitText("dialog", "shards cannot be taken away");
        browser.type("returns");
        browser.type(Keys.ENTER);

        browser.awaitText("#notes", "Shards: 1 → 2");
        browser.open("#/audit");
        assertThat(browser.text("tbody tr:first-child")).contains("grow", "returns", "to 2 shards", "Done");
    }

    @Test
    void showsTextsOfStrangersAsText() {
        for (String id : Shop.HOSTILE) {
            browser.open("#/topic?topic=texts&tab=dead");
            assertThat(browser.content("tbody")).contains(id, "<img src=x onerror=alert(4)>");
            browser.open(message("texts", id));
            assertThat(browser.content("h1")).isEqualTo(id);
            assertThat(browser.content("table")).contains("<b>header</b>", "\"><script>alert(3)</script>");
            assertThat(browser.content(".trace")).contains("<img src=x onerror=alert(4)> " + id + " [U+202E]𠮷");
            assertThat(browser.content("pre:not(.trace)")).contains("<script>alert(2)</script> [U+202E]evil 𠮷");
            assertThat(browser.all("main img, main script")).isEmpty();
        }
        assertThat(browser.script("return document.title")).contains(Shop.HOSTILE[Shop.HOSTILE.length - 1]);
    }

    @Test
    void showsAndEditsNumbersAsTheyWere() {
        browser.open(message("order-close", "close-955"));
        assertThat(browser.content("pre:not(.trace)"))
                .contains("9007199254740993", "1.10")
                .doesNotContain("s3cret");

        browser.open(message("texts", Shop.HOSTILE[3]));
        browser.click("Edit and send…");
        assertThat(browser.script("return document.querySelector('textarea').value"))
                .contains("9007199254740993", "1.10");
        browser.click("Send back");
        browser.awaitText("#notes", "Send back: 1.");
        browser.awaitText("h1 + .chip", "Dead");
        assertThat(browser.content("pre:not(.trace)")).contains("9007199254740993", "1.10");
    }

    @Test
    void keepsTheLineEndsOfATextThatIsEditedAndShowsTheOldOneInTheAudit() {
        shop.addDead("lines");
        browser.result(
                "const call = (path, body) => fetch('api/' + path, body && {method: 'POST', body: JSON.stringify(body),"
                        + " headers: {'Content-Type': 'application/json', 'X-Easykit-Console': '1'}}).then(reply => reply.json());"
                        + "call('message?topic=returns&id=lines').then(({message: m}) => call('replace', {topic: 'returns', id: 'lines',"
                        + " diedAt: m.diedAt, incarnation: m.incarnation, headers: {}, body: 'one\\r\\ntwo\\r\\nthree\\n'})).then(done)");
        browser.open(message("returns", "lines"));
        browser.awaitText("pre:not(.trace)", "two");
        browser.awaitText("h1 + .chip", "Dead");
        browser.click("Edit and send…");
        browser.script(
                "const field = document.querySelector('textarea'); field.focus(); field.setSelectionRange(3, 3)");
        browser.type("!");
        browser.click("Send back");
        browser.awaitText("pre:not(.trace)", "one!");

        assertThat(browser.result("fetch('api/message?topic=returns&id=lines').then(reply => reply.json())"
                        + ".then(({message}) => done(JSON.stringify(message.body.text)))"))
                .isEqualTo("\"one!\\r\\ntwo\\r\\nthree\\n\"");
        browser.open("#/audit");
        browser.script(
                "[...document.querySelectorAll('summary')].find(one => one.textContent === 'Old message').click()");
        browser.awaitText("tbody tr:first-child pre", "two");
    }

    @Test
    void givesNoCountOfASearchThatStopped() {
        String[] ids = new String[230];
        Arrays.setAll(ids, i -> "many-" + i);
        shop.addDead(ids);
        browser.open("#/topic?topic=returns&tab=dead");
        browser.click("Search…");
        browser.type("many-");
        browser.type(Keys.ENTER);

        browser.awaitText("main", "200 and more: the search stopped here");
        browser.awaitText("main .bar", "Purge all…");
        assertThat(browser.script("const bar = document.querySelector('progress'); return bar.value < bar.max"))
                .isEqualTo("true");
    }

    @Test
    void evictsTheEntryThatItExplains() {
        browser.open("#/explain?prefix=product&part=1");
        browser.awaitText("main .chip", "FRESH");
        assertThat(browser.script("return document.querySelector('select').value"))
                .isEqualTo("default product");
        browser.click("Evict…");
        browser.click("Evict");
        browser.awaitText("#notes", "The entry is invalid.");
        await().until(() -> !browser.text("main .chip").contains("FRESH"));

        browser.open("#/explain?cluster=default&prefix=brand&part=1");
        browser.awaitText("main .chip", "FRESH");
    }

    @Test
    void saysWhyAKeyCannotBeExplained() {
        browser.open("#/explain?cluster=default&prefix=product&part=x");

        browser.awaitText("main .note.bad", "x");
        assertThat(browser.all("main form input")).hasSize(1);
        assertThat(browser.text("#head")).contains("Live");
    }

    @Test
    void triesOneOfAGroupAndSendsTheRestUntilItIsStopped() {
        shop.mend();
        browser.open("#/topic?topic=refunds&tab=groups");
        browser.click("Send back all (31)…");
        browser.click("Send one");
        browser.awaitText("dialog", "Gone: it ran, or was removed");
        browser.shoot("trial");
        browser.fill("dialog input[type=number]", "6");
        browser.click("Send the others (30)");
        browser.awaitText("h1", "refunds");
        await().until(() -> shop.dead("refunds") < 28);
        browser.click("Stop");
        browser.awaitText("main", "Stopped");
        browser.shoot("stopped");

        long left = shop.dead("refunds");
        assertThat(left).isBetween(1L, 28L);
        browser.click("Continue");
        await().atMost(Duration.ofSeconds(60)).until(() -> shop.dead("refunds") == 0);
        browser.awaitText("main", "Done");
    }

    @Test
    void showsAndFreesAnOrderingKeyThatADeadLetterHasStopped() {
        browser.open("#/queues");
        browser.awaitText("main", "Redis ");
        browser.awaitText("tbody", "Parked");
        browser.click("Stopped keys");
        browser.awaitText("tbody", "account-7");
        browser.script("document.querySelector('[aria-label=\"Free account-7…\"]').click()");
        browser.awaitText("dialog", "The dead letter stays");
        browser.click("Free");
        browser.awaitText("#notes", "Free: 1.");
        await().until(() -> !browser.text("tbody").contains("account-7"));
        assertThat(browser.text("tbody")).contains("account-8");
        await().until(() -> {
            browser.refresh();
            return browser.text(".charts").contains("Parked\n2");
        });
        assertThat(shop.dead("accounts")).isEqualTo(2);
    }

    @Test
    void purgesOnlyAfterTheNameWasTyped() {
        browser.open("#/topic?topic=invoices&tab=dead");
        browser.click("Purge all");
        assertThat(browser.all("dialog .danger.strong:disabled")).hasSize(1);
        browser.type("invoices");
        assertThat(browser.all("dialog .danger.strong:disabled")).isEmpty();
        browser.type(Keys.ESCAPE);
    }

    @Test
    void changesOnlyLettersThatDiedBeforeTheDialogWasOpened() {
        shop.addDead("before-1", "before-2");
        browser.open("#/topic?topic=returns&tab=dead");
        browser.click("Purge all");
        shop.addDead("meanwhile");
        browser.type("returns");
        browser.click("Purge (");
        // The page may show that another job of the topic is done.
        await().until(() -> shop.dead("returns") == 1);
        browser.awaitText("main", "Done");

        browser.open("#/topic?topic=returns&tab=dead");
        browser.click("Send back all");
        browser.click("Send without a trial");
        browser.awaitText("main", "Done");
        browser.open("#/audit");
        browser.awaitText("tbody tr:first-child", "redrive, died until");
    }

    @Test
    void saysThatRedisIsAwayAndGoesOnWhenItIsBack() {
        browser.open("#/queues");
        shop.stopRedis();
        try {
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> !browser.all("#notes .bad, #notes .warn").isEmpty());
            browser.awaitText("#notes .bad", "Redis does not answer.");
            browser.awaitText("#notes .bad", "old");
            assertThat(browser.all("main.stale tbody tr")).isNotEmpty();
            browser.shoot("redis-away");
        } finally {
            shop.startRedis();
        }

        await().atMost(Duration.ofSeconds(60))
                .until(() -> browser.all("#notes .bad, main.stale").isEmpty());
    }

    @Test
    void worksBehindAProxyThatStripsAPrefix() {
        try (PrefixProxy proxy = new PrefixProxy(URI.create(shop.console()))) {
            try {
                browser.load(proxy.address() + "/easykit");
                browser.click("invoices");
                browser.awaitText("h1", "invoices");
                browser.open("#/topic?topic=invoices&tab=dead");
                assertThat(browser.script("return document.querySelector('a[download]').href"))
                        .startsWith(proxy.address() + "/easykit/api/export?");
                browser.open("#/explain?cluster=default&prefix=product&part=2");
                browser.click("Evict…");
                browser.click("Evict");
                browser.awaitText("#notes", "The entry is invalid.");

                assertThat(browser.script("return [...document.querySelectorAll('a'), document.querySelector('img')]"
                                + ".map(one => one.href || one.src).filter(one => !one.includes('staging')"
                                + " && !one.startsWith('" + proxy.address() + "/easykit/')).join()"))
                        .isEmpty();
                assertThat(browser.errors()).isEmpty();
            } finally {
                // Before the proxy is closed: the page goes on asking.
                browser.become(WIDE, false, "en");
            }
        }
    }

    @Test
    void sendsNothingWhileItIsHidden() {
        browser.open("#/queues");
        browser.refreshOften();
        browser.script("Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
                + "window.asked = 0; const real = fetch; window.fetch = (...all) => { window.asked++; return real(...all); };"
                + "window.ticks = 0; setInterval(() => window.ticks++, 200)");
        await().until(() -> Integer.parseInt(browser.script("return window.ticks")) > 6);
        assertThat(browser.script("return window.asked")).isEqualTo("0");

        browser.script("Object.defineProperty(document, 'hidden', {value: false});"
                + "document.dispatchEvent(new Event('visibilitychange'))");
        await().until(() -> Integer.parseInt(browser.script("return window.asked")) > 0);
    }
}
