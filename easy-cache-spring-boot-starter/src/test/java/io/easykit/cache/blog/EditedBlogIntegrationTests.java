package io.easykit.cache.blog;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Random edits of a web application with JPA and Spring Boot's defaults, over HTTP: saved, rejected and rolled back. No
 * reader gets a value that the database never contained, or one that was replaced before its update returned (AP:
 * longer ago than the stale window).
 */
class EditedBlogIntegrationTests {

    private static final int THREADS = 16;
    private static final int ARTICLES = 200;
    private static final int READS_PER_EDIT = 20;
    private static final Duration STALE_WINDOW = Duration.ofMillis(200);
    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final List<String> EDITS = List.of("saved", "saved", "rejected", "rolled-back");

    @Test
    void staysTrueForSomeSeconds() throws Exception {
        edit(Duration.ofSeconds(3));
    }

    @Test
    @Tag("heavy")
    void staysTrueForAMinute() throws Exception {
        edit(Duration.ofSeconds(60));
    }

    private static void edit(Duration time) throws Exception {
        try (ConfigurableApplicationContext context = Blog.start("edited", "spring.jpa.hibernate.ddl-auto=create")) {
            for (long id = 0; id < ARTICLES; id++) {
                context.getBean(ArticleRepository.class).save(new Article(id));
            }
            new Run(context, time).run();
        }
    }

    private static final class Run {

        private final ConfigurableApplicationContext context;
        private final Duration time;
        private final String url;
        private final HttpClient client = HttpClient.newHttpClient();
        private final List<History> histories = new ArrayList<>();
        private final Queue<String> violations = new ConcurrentLinkedQueue<>();
        private final LongAdder reads = new LongAdder();
        private volatile int savedLast;
        private final Map<String, LongAdder> edits =
                Map.of("saved", new LongAdder(), "rejected", new LongAdder(), "rolled-back", new LongAdder());

        Run(ConfigurableApplicationContext context, Duration time) {
            this.context = context;
            this.time = time;
            this.url = "http://127.0.0.1:"
                    + ((ServletWebServerApplicationContext) context)
                            .getWebServer()
                            .getPort() + "/";
            for (int id = 0; id < ARTICLES; id++) {
                histories.add(new History());
            }
        }

        void run() throws Exception {
            shouldEqualTheDatabase();
            context.getBean(Counts.class).reset();
            ExecutorService editors = Executors.newFixedThreadPool(THREADS);
            try {
                long end = System.nanoTime() + time.toNanos();
                List<CompletableFuture<Void>> all = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    all.add(CompletableFuture.runAsync(() -> work(end), editors));
                }
                CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
            } finally {
                editors.shutdownNow();
            }
            Counts counts = context.getBean(Counts.class);
            double ratio = counts.hits.doubleValue() / (counts.hits.sum() + counts.misses.sum());
            Awaitility.await().untilAsserted(this::shouldEqualTheDatabase);
            System.out.printf(
                    "%d reads, edits %s, hit ratio %.1f %%, %d loads, %d violations%n",
                    reads.sum(), edits, 100 * ratio, counts.loads.sum(), violations.size());
            assertThat(violations).isEmpty();
            assertThat(edits.values()).allMatch(count -> count.sum() > 0);
            assertThat(ratio).isGreaterThan(0.9);
        }

        private void work(long end) {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            while (goesOn(end) && violations.isEmpty()) {
                int id = random.nextInt(ARTICLES);
                String consistency = random.nextBoolean() ? "cp" : "ap";
                if (random.nextInt(READS_PER_EDIT + 1) == 0) {
                    edit(consistency, id, EDITS.get(random.nextInt(EDITS.size())));
                } else {
                    read(consistency, id, random.nextBoolean() ? "" : "/beside-entity");
                }
            }
        }

        /** On a busy machine the time may be too short for an edit of each kind. */
        private boolean goesOn(long end) {
            long late = System.nanoTime() - end;
            return late < 0
                    || (late < LONGEST.toNanos() && edits.values().stream().anyMatch(count -> count.sum() == 0));
        }

        /** Unsaved edits follow a save of the same article. Then the cache has no value, and the edit loads one. */
        private void edit(String consistency, int any, String kind) {
            int id = kind.equals("saved") ? any : savedLast;
            History history = histories.get(id);
            if (kind.equals("saved")) {
                history.begin();
            }
            HttpResponse<String> answer =
                    send(HttpRequest.newBuilder(URI.create(url + consistency + "/" + id + "/" + kind))
                            .POST(HttpRequest.BodyPublishers.noBody())
                            .build());
            edits.get(kind).increment();
            int expected = kind.equals("saved") ? 200 : kind.equals("rejected") ? 400 : 409;
            if (answer.statusCode() != expected) {
                violations.add(kind + " returned " + answer.statusCode() + " " + answer.body());
            } else if (kind.equals("saved")) {
                history.returned(Long.parseLong(answer.body()));
                savedLast = id;
            }
        }

        private void read(String consistency, int id, String how) {
            History history = histories.get(id);
            long known =
                    history.returnedBefore(System.nanoTime() - (consistency.equals("cp") ? 0 : STALE_WINDOW.toNanos()));
            HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create(url + consistency + "/" + id + how))
                    .build());
            reads.increment();
            String[] parts = answer.body().split(":", 2);
            if (answer.statusCode() != 200) {
                violations.add("a read returned " + answer.statusCode() + " " + answer.body());
                return;
            }
            long revision = Long.parseLong(parts[0]);
            if (!parts[1].equals(Article.titleOf(revision)) || revision > history.begun()) {
                violations.add(consistency + " " + id + ": never held " + answer.body());
            } else if (revision < known) {
                violations.add(consistency + " " + id + ": " + answer.body() + " after revision " + known);
            }
        }

        private HttpResponse<String> send(HttpRequest request) {
            return client.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                    .orTimeout(60, TimeUnit.SECONDS)
                    .join();
        }

        private void shouldEqualTheDatabase() {
            Articles articles = context.getBean(Articles.class);
            for (Article row : context.getBean(ArticleRepository.class).findAll()) {
                assertThat(articles.strong(row.getId())).isEqualTo(Articles.Headline.of(row));
                assertThat(articles.eventual(row.getId())).isEqualTo(Articles.Headline.of(row));
            }
        }
    }

    /** The revisions of an article as returned to its editors. */
    private static final class History {

        private record Returned(long time, long revision) {}

        private final List<Returned> returned = new ArrayList<>(List.of(new Returned(Long.MIN_VALUE, 0)));
        private long begun;

        synchronized void begin() {
            begun++;
        }

        synchronized long begun() {
            return begun;
        }

        synchronized void returned(long revision) {
            long latest = returned.get(returned.size() - 1).revision;
            returned.add(new Returned(System.nanoTime(), Math.max(latest, revision)));
        }

        synchronized long returnedBefore(long time) {
            int last = returned.size() - 1;
            while (last > 0 && returned.get(last).time > time) {
                last--;
            }
            return returned.get(last).revision;
        }
    }

    static final class Counts implements CacheListener {

        private final LongAdder hits = new LongAdder();
        private final LongAdder misses = new LongAdder();
        private final LongAdder loads = new LongAdder();

        void reset() {
            hits.reset();
            misses.reset();
            loads.reset();
        }

        @Override
        public void onHit(CacheKey<?> key, Hit hit) {
            hits.increment();
        }

        @Override
        public void onMiss(CacheKey<?> key) {
            misses.increment();
        }

        @Override
        public void onLoad(CacheKey<?> key, Duration took, Load load) {
            loads.increment();
        }
    }
}
