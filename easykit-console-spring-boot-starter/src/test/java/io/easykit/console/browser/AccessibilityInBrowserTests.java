package io.easykit.console.browser;

import static io.easykit.console.browser.Browser.await;
import static io.easykit.console.browser.Browser.message;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** Each page and dialog, wide and narrow, light and dark, in both languages: everybody can use it, and nothing is cut off. */
class AccessibilityInBrowserTests {

    private static final int WIDE = 1280;
    private static final int NARROW = 390;
    private static final int ALL_ROWS = 1000;

    /** Enough for one row of each kind. */
    private static final int SOME_ROWS = 12;

    private static final String DEAD = "#/topic?topic=order-close&tab=dead";

    private static Shop shop;
    private static Browser browser;
    private static String group;

    @BeforeAll
    static void start() {
        shop = new Shop();
        shop.fill();
        browser = new Browser(shop.console());
        browser.become(WIDE, false, "en");
        evictAnEntry();
        searchJob();
    }

    @AfterAll
    static void stop() {
        browser.close();
        shop.close();
    }

    @AfterEach
    void noRequestsElsewhere() {
        assertThat(browser.requestsElsewhere()).isEmpty();
    }

    /** For the audit. */
    private static void evictAnEntry() {
        browser.open("#/explain?cluster=default&prefix=product&part=2");
        browser.click("Evict…");
        browser.click("Evict");
        browser.awaitText("#notes", "The entry is invalid.");
    }

    /** Names of pages for files, and their addresses. */
    private static Map<String, String> pages() {
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put("queues", "#/queues");
        pages.put("waiting", "#/topic?topic=order-close&tab=waiting");
        pages.put("flight", "#/topic?topic=shipping&tab=in-flight");
        pages.put("dead", DEAD);
        pages.put("errors", "#/topic?topic=order-close&tab=groups");
        pages.put("group", DEAD + "&group=" + group);
        pages.put("keys", "#/topic?topic=accounts&tab=keys");
        pages.put("settings", "#/topic?topic=order-close&tab=settings");
        pages.put("message", message("order-close", "close-907"));
        pages.put("hostile", message("texts", Shop.HOSTILE[1]));
        pages.put("waiting-message", message("order-close", "wait-9"));
        pages.put("gone", message("order-close", "nothing"));
        pages.put("found-nothing", "#/find?id=nothing");
        pages.put("jobs", "#/jobs");
        pages.put("search", "#/job?id=" + job("search"));
        pages.put("caches", "#/caches");
        pages.put("explain", "#/explain?cluster=default&prefix=product&part=1");
        pages.put("nodes", "#/nodes");
        pages.put("audit", "#/audit");
        return pages;
    }

    /** Id of the latest job of this kind, from its link. */
    private static String job(String text) {
        browser.open("#/jobs");
        return browser.script(
                "return [...document.querySelectorAll('tbody a')].find(a => a.textContent.toLowerCase() === '" + text
                        + "').href.split('id=')[1]");
    }

    private static void searchJob() {
        browser.open(DEAD);
        browser.click("Search…");
        browser.type("close-9");
        browser.type(Keys.ENTER);
        browser.awaitText("main", "Done");
        browser.open("#/topic?topic=order-close&tab=groups");
        group = browser.script("return document.querySelector('tbody a').href.split('group=')[1]");
    }

    @Test
    void everyPageIsAccessibleAndFitsInEachForm() {
        everyPageIsAccessibleAndFits(false);
    }

    @Test
    @Tag("heavy")
    void everyPageIsSoByEachRuleAndInEachRow() {
        everyPageIsAccessibleAndFits(true);
    }

    /**
     * @param all whether all pairs of a width, a scheme and a language are checked, by all rules and in all rows. Otherwise the second
     *     form has the same elements as the first, and is checked for colors and sizes
     */
    private static void everyPageIsAccessibleAndFits(boolean all) {
        Map<String, String> pages = pages();
        List<String> findings = new ArrayList<>();
        List<Form> forms = all ? Form.PAIRS : Form.OPPOSITES;
        for (Form form : forms) {
            boolean whole = all || form.equals(forms.get(0));
            browser.become(form.width, form.dark, form.language);
            pages.forEach((name, hash) -> {
                browser.open(hash);
                look(name + form, whole ? ALL_ROWS : SOME_ROWS, whole ? List.of() : Browser.LOOKS, findings);
            });
        }

        assertThat(findings).isEmpty();
    }

    /** A kind of browser. */
    private record Form(int width, boolean dark, String language) {

        /** Every width, scheme and language. */
        static final List<Form> OPPOSITES = List.of(new Form(WIDE, false, "zh-CN"), new Form(NARROW, true, "en"));

        /** Every pair of them. */
        static final List<Form> PAIRS = List.of(
                new Form(WIDE, false, "en"),
                new Form(WIDE, true, "zh-CN"),
                new Form(NARROW, false, "zh-CN"),
                new Form(NARROW, true, "en"));

        @Override
        public String toString() {
            return "-" + width + (dark ? "-dark-" : "-light-") + language;
        }
    }

    private static void look(String form, int rows, List<String> rules, List<String> findings) {
        browser.violations(rows, rules).forEach(one -> findings.add(form + ": " + one));
        browser.errors().forEach(one -> findings.add(form + ": " + one));
        if (browser.overflow() > 0) {
            findings.add(form + ": " + browser.overflow() + " pixels wider than the window");
        }
        browser.shoot(form);
    }

    @Test
    void everyDialogIsAccessibleAndFits() {
        List<String> findings = new ArrayList<>();
        for (boolean narrow : new boolean[] {false, true}) {
            browser.become(narrow ? NARROW : WIDE, narrow, "en");
            Map<String, String> dialogs = new LinkedHashMap<>();
            dialogs.put("Send back all", DEAD);
            dialogs.put("Purge all", DEAD);
            dialogs.put("Search…", DEAD);
            dialogs.put("Send back…", message("order-close", "close-907"));
            dialogs.put("Edit and send…", message("texts", Shop.HOSTILE[3]));
            dialogs.put("Reschedule…", message("order-close", "wait-9"));
            dialogs.put("Free", "#/topic?topic=accounts&tab=keys");
            dialogs.put("Pause…", "#/queues");
            dialogs.put("Add shards…", "#/topic?topic=shipping&tab=settings");
            dialogs.put("Force…", "#/caches");
            dialogs.put("Settings", "#/caches");
            dialogs.put("Drop…", "#/caches");
            dialogs.put("?", "#/audit");
            dialogs.forEach((button, hash) -> {
                browser.open(hash);
                browser.click(button);
                assertThat(browser.all("dialog[open]")).as(button).hasSize(1);
                look(
                        "dialog-" + button.replaceAll("\\W+", "-") + (narrow ? NARROW : WIDE),
                        SOME_ROWS,
                        narrow ? Browser.LOOKS : List.of(),
                        findings);
                browser.type(Keys.ESCAPE);
                await().until(() -> browser.all("dialog[open]").isEmpty());
            });
        }

        assertThat(findings).isEmpty();
    }
}
