package io.easykit.console.browser;

import com.deque.html.axecore.selenium.AxeBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.openqa.selenium.By;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A Chromium without a window that shows the console. */
final class Browser implements AutoCloseable {

    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final List<Path> BROWSERS = List.of(
            Path.of("/usr/bin/chromium"), Path.of("/usr/bin/chromium-browser"), Path.of("/usr/bin/google-chrome"));
    private static final Path SHOTS = Path.of("target/screenshots");

    /** Goes to another page of the console and waits until it has its data. */
    private static final String GO =
            """
            const [hash, done] = arguments;
            const look = () => /Loading…|加载中/.test(document.getElementById('main').textContent) ? setTimeout(look, 10) : done();
            if (location.hash === hash) { look(); } else {
              addEventListener('hashchange', look, {once: true});
              location.hash = hash;
            }
            """;

    private static final String AXE = axe();
    private static final String CHECK =
            """
            const [rows, rules, done] = arguments;
            const told = rule => rule.id + ': ' + rule.nodes.slice(0, 3)
              .map(node => node.html.slice(0, 150) + ' ' + (node.any[0]?.message || '')).join(' | ');
            const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
            axe.run({exclude: [`main tbody tr:nth-child(n + ${rows + 1})`]}, {runOnly: rules.length ? rules : tags, resultTypes: ['violations']})
              .then(result => done(result.violations.map(told)), problem => done(['axe failed: ' + problem]));
            """;

    /** The rules whose result depends on colors and sizes. */
    static final List<String> LOOKS =
            List.of("color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size");

    /** The button or link that begins with a text, first those of an open dialog. */
    private static final String BUTTON =
            """
            const wanted = e => e.checkVisibility() && !e.disabled && e.innerText.trim().startsWith(arguments[0]);
            return [...document.querySelectorAll('dialog[open] button, dialog[open] a'),
              ...document.querySelectorAll('button, a')].find(wanted);
            """;

    /** Keeps the next refresh of the page as {@code due}, and makes the interval of refreshes, in milliseconds, a variable. */
    private static final String REFRESHES =
            """
            window.every = 2000;
            {
              const timeout = window.setTimeout;
              window.setTimeout = (task, millis, ...more) => {
                if (millis !== 2000) {
                  return timeout(task, millis, ...more);
                }
                window.due = task;
                return timeout(task, every, ...more);
              };
            }
            """;

    private final ChromeDriver driver;
    private final String base;

    /** @param base address of the console, with a slash at its end */
    Browser(String base) {
        this.base = base;
        ChromeOptions options = new ChromeOptions();
        options.setBinary(BROWSERS.stream()
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Browser tests need a Chromium: one of " + BROWSERS))
                .toFile());
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--disable-gpu",
                // Otherwise each load of the page starts a process, and those of the pages before live on.
                "--renderer-process-limit=1",
                "--disable-site-isolation-trials",
                "--in-process-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, java.util.logging.Level.WARNING);
        options.setCapability("goog:loggingPrefs", logs);
        driver = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(DRIVER.toFile())
                        .build(),
                options);
        driver.manage().timeouts().scriptTimeout(Duration.ofSeconds(30));
        before(REFRESHES);
    }

    /** Checks often: a page shows a change within milliseconds. A busy machine may take long. */
    static ConditionFactory await() {
        return Awaitility.with()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(20))
                .atMost(Duration.ofSeconds(30));
    }

    /** Loads the page anew, as a browser of this kind. */
    void become(int width, boolean dark, String language) {
        driver.get("about:blank");
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", width < 600 ? 844 : 800, "deviceScaleFactor", 1, "mobile", false));
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
        driver.executeCdpCommand(
                "Emulation.setUserAgentOverride",
                Map.of("userAgent", driver.executeScript("return navigator.userAgent"), "acceptLanguage", language));
        driver.get(base);
        await().until(() -> !all("nav a").isEmpty());
    }

    /** From now on runs a script before those of each page. */
    void before(String script) {
        driver.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", script));
    }

    /** Runs the next refresh now, and waits until the page has scheduled the one after it. */
    void refresh() {
        script("window.planned = due; due()");
        await().until(() -> script("return due !== planned").equals("true"));
    }

    /** Refreshes now, and from now on ten times as often. */
    void refreshOften() {
        script("window.every = 200");
        refresh();
    }

    void load(String address) {
        driver.get(address);
    }

    void reload() {
        driver.navigate().refresh();
    }

    /** Runs a script that passes its result to {@code done}. */
    String result(String script) {
        return String.valueOf(driver.executeAsyncScript("const done = arguments[0]; " + script));
    }

    /** The page of a message, for {@link #open}. */
    static String message(String topic, String id) {
        return "#/message?topic=" + topic + "&id=" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    }

    void open(String hash) {
        driver.executeAsyncScript(GO, hash);
    }

    List<WebElement> all(String css) {
        return driver.findElements(By.cssSelector(css));
    }

    /** Text of all elements, one a line. */
    String text(String css) {
        try {
            return String.join("\n", all(css).stream().map(WebElement::getText).toList());
        } catch (StaleElementReferenceException replaced) {
            return text(css);
        }
    }

    /** Text as it is in the document, without the changes that its display makes. */
    String content(String css) {
        return String.valueOf(driver.executeScript(
                "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent).join('\\n')", css));
    }

    void awaitText(String css, String text) {
        await().alias(css + " shows: " + text).atMost(Duration.ofSeconds(30)).until(() -> text(css)
                .contains(text));
    }

    /** Clicks the button or link that begins with this text. */
    void click(String text) {
        await().alias("a button: " + text).ignoreExceptions().until(() -> {
            ((WebElement) Objects.requireNonNull(driver.executeScript(BUTTON, text))).click();
            return true;
        });
    }

    void fill(String css, String text) {
        WebElement field = driver.findElement(By.cssSelector(css));
        field.clear();
        field.sendKeys(text);
    }

    /** Types into the element that has the focus. */
    void type(CharSequence... keys) {
        new Actions(driver).sendKeys(keys).perform();
    }

    /** The element that has the focus, as a screen reader would name it. */
    String focused() {
        return String.valueOf(
                driver.executeScript(
                        "const e = document.activeElement; return e.getAttribute('aria-label') || e.textContent.trim() || e.name || e.id"));
    }

    String script(String script) {
        return String.valueOf(driver.executeScript(script));
    }

    /** Pixels that the page is wider than the window, or the dialog than its frame. */
    long overflow() {
        return (Long)
                driver.executeScript(
                        "const dialog = document.querySelector('dialog');"
                                + "return Math.max(document.documentElement.scrollWidth - innerWidth, dialog.scrollWidth - dialog.clientWidth)");
    }

    /** Messages of the console since the last call. A reply of 400, 404 or 503 is expected by the tests that cause it. */
    List<String> errors() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .map(entry -> entry.getMessage())
                .filter(message -> !message.matches(".*the server responded with a status of (400|404|503).*"))
                .toList();
    }

    /** Addresses of requests that went to another server. */
    String requestsElsewhere() {
        return script("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('"
                + base + "')).join()");
    }

    /**
     * The violations of the rules of WCAG 2.2 AA.
     *
     * @param rows number of rows of each table to check: the rules need most of their time for long tables
     * @param rules the only rules to check; if there are none here, all
     */
    List<String> violations(int rows, List<String> rules) {
        if (driver.executeScript("return typeof axe").equals("undefined")) {
            driver.executeScript(AXE);
        }
        List<?> found = (List<?>) driver.executeAsyncScript(CHECK, rows, rules);
        return found.stream().map(String::valueOf).toList();
    }

    private static String axe() {
        try {
            return new AxeBuilder().getAxeScriptProvider().getScript();
        } catch (Exception e) {
            throw new IllegalStateException("The script of axe is not readable", e);
        }
    }

    /** Saves the page as an image in target/screenshots, for a review by a person. */
    void shoot(String name) {
        try {
            Files.createDirectories(SHOTS);
            Map<String, Object> shot = driver.executeCdpCommand(
                    "Page.captureScreenshot", Map.of("format", "png", "optimizeForSpeed", true));
            Files.write(SHOTS.resolve(name + ".png"), Base64.getDecoder().decode((String) shot.get("data")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        driver.quit();
    }
}
