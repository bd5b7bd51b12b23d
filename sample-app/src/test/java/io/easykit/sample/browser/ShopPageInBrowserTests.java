package io.easykit.sample.browser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.sample.ShopApplication;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The page of the shop in a real browser. */
@SpringBootTest(
        classes = ShopApplication.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"shop.payment-timeout=500ms", "delay-queue.topics.order-close.back-off.delay=1ms"})
class ShopPageInBrowserTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    static Path dataDirectory;

    private static ChromeDriver driver;

    @LocalServerPort
    int port;

    @DynamicPropertySource
    static void keepData(DynamicPropertyRegistry properties) {
        properties.add("shop.data-dir", dataDirectory::toString);
    }

    @AfterAll
    static void stop() {
        driver.quit();
    }

    @BeforeEach
    void open() {
        if (driver == null) {
            driver = start();
        }
        driver.get("http://localhost:" + port + "/");
        awaitText("#products tr:nth-child(10) .badge", "from ");
    }

    private static ChromeDriver start() {
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.WARNING);
        ChromeOptions options = new ChromeOptions();
        Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
                .filter(program -> Files.exists(Path.of(program)))
                .findFirst()
                .ifPresent(options::setBinary);
        options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu");
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(Path.of("/usr/bin/chromedriver").toFile())
                .build();
        return new ChromeDriver(service, options);
    }

    private static String text(String css) {
        try {
            return String.join(
                    "\n",
                    driver.findElements(By.cssSelector(css)).stream()
                            .map(one -> one.getText())
                            .toList());
        } catch (StaleElementReferenceException replaced) {
            return text(css);
        }
    }

    private static void awaitText(String css, String text) {
        await().alias(css + " shows: " + text).atMost(PATIENCE).until(() -> text(css)
                .contains(text));
    }

    private static void click(String css) {
        driver.findElement(By.cssSelector(css)).click();
    }

    /** A reply of 503 is expected while Redis is off. */
    private static List<String> errors() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .map(entry -> entry.getMessage())
                .filter(message -> !message.contains("status of 503"))
                .toList();
    }

    @Test
    void readsAProductFromTheCacheUntilItsPriceChanges() {
        click("#read-all");
        await().atMost(PATIENCE).until(() -> !text("#products .badge").contains("from database"));

        driver.findElement(By.cssSelector("#products tr:first-child input")).clear();
        driver.findElement(By.cssSelector("#products tr:first-child input")).sendKeys("12.34");
        click("[aria-label='Save the price of product 1']");
        awaitText("#products tr:first-child .badge", "changed");
        click("[aria-label='Read product 1']");
        awaitText("#products tr:first-child .badge", "from database");
        click("[aria-label='Read product 1']");
        awaitText("#products tr:first-child .badge", "from cache");

        assertThat(driver.executeScript("return document.querySelector('#products input').value"))
                .isEqualTo("12.34");
        assertThat(errors()).isEmpty();
    }

    @Test
    void linksAnOrderThatCannotBeClosedToItsMessageInTheConsole() {
        driver.executeScript("document.getElementById('fault').value = 'PRICING'");
        click("#order [type=submit]");
        awaitText("#orders tr:first-child", "fails: no exchange rate");
        await().atMost(PATIENCE).until(() -> !text("#orders tr:first-child a").isEmpty());
        awaitText("#dead", "1");

        click("#orders tr:first-child a");
        awaitText("main .trace", "The exchange rate of order");
        assertThat(errors()).isEmpty();
    }

    @Test
    void turnsRedisOffAndOn() {
        click("#redis-switch");
        awaitText("#redis", "off");
        awaitText("#queue", "unavailable");
        click("#order [type=submit]");
        await().atMost(PATIENCE).until(() -> !text("#notice").isEmpty());
        click("#read-all");
        awaitText("#products tr:first-child .badge", "from ");

        click("#redis-switch");
        awaitText("#redis", "on");
        awaitText("#queue", "available");
        assertThat(errors()).isEmpty();
    }
}
