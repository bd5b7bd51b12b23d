package io.easykit.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class AuditTrailTests {

    private final SharedList shared = new SharedList();
    private final AuditTrail trail = new AuditTrail(shared, 100);

    /** A list in memory that can be away. */
    private static final class SharedList implements AuditStore {

        private final List<String> lines = new ArrayList<>();
        private boolean away;
        private boolean losesReplies;
        private String refused = "";
        private int reads;

        @Override
        public void add(String line, int most) {
            requireThere();
            if (!refused.isEmpty() && line.contains(refused)) {
                throw new Refused(new IllegalStateException("no permission"));
            }
            lines.add(0, line);
            while (lines.size() > most) {
                lines.remove(lines.size() - 1);
            }
            if (losesReplies) {
                throw new IllegalStateException("no reply");
            }
        }

        @Override
        public List<String> read(long skip, int count) {
            requireThere();
            reads++;
            return lines.stream().skip(skip).limit(count).toList();
        }

        private void requireThere() {
            if (away) {
                throw new IllegalStateException("away");
            }
        }
    }

    private static void begin(AuditTrail to, String id) {
        to.add(new LinkedHashMap<>(Map.of("id", id, "action", "purge", "outcome", "begun")));
    }

    private static void end(AuditTrail to, String id) {
        to.add(new LinkedHashMap<>(Map.of("id", id, "outcome", "done", "moved", 3)));
    }

    private static List<Object> ids(AuditTrail.Page page) {
        return page.entries().stream().map(entry -> entry.get("id")).toList();
    }

    @Test
    void showsTheOutcomeOfEachChangeInOneEntry() {
        begin(trail, "a");
        begin(trail, "b");
        end(trail, "a");

        AuditTrail.Page page = trail.page(null, 10);

        assertThat(page.shared()).isTrue();
        assertThat(page.next()).isNull();
        assertThat(page.entries())
                .containsExactly(
                        Map.of("id", "b", "action", "purge", "outcome", "begun"),
                        Map.of("id", "a", "action", "purge", "outcome", "done", "moved", 3));
    }

    @Test
    void pagesWhileOthersAddEntries() {
        for (int i = 0; i < 90; i++) {
            begin(trail, "e" + i);
            end(trail, "e" + i);
        }
        List<Object> seen = new ArrayList<>();
        String after = null;
        int added = 0;
        do {
            AuditTrail.Page page = trail.page(after, 20);
            page.entries().forEach(entry -> assertThat(entry).containsEntry("outcome", "done"));
            seen.addAll(ids(page));
            after = page.next();
            begin(trail, "new" + added);
            end(trail, "new" + added++);
        } while (after != null);

        assertThat(seen).doesNotHaveDuplicates().hasSize(90).startsWith("e89").endsWith("e0");
    }

    @Test
    void findsTheOutcomeOfAnEntryOnTheNextPage() {
        begin(trail, "slow");
        begin(trail, "quick");
        end(trail, "quick");
        end(trail, "slow");

        AuditTrail.Page first = trail.page(null, 1);
        AuditTrail.Page second = trail.page(first.next(), 1);

        assertThat(ids(first)).containsExactly("quick");
        assertThat(second.entries())
                .containsExactly(Map.of("id", "slow", "action", "purge", "outcome", "done", "moved", 3));
    }

    @Test
    void keepsEntriesInMemoryWhileTheStoreIsAwayAndStoresThemLater() {
        begin(trail, "before");
        shared.away = true;
        begin(trail, "meanwhile");
        end(trail, "meanwhile");

        AuditTrail.Page away = trail.page(null, 10);
        assertThat(away.shared()).isFalse();
        assertThat(away.why()).isEqualTo("Redis does not answer.");
        assertThat(ids(away)).containsExactly("meanwhile", "before");

        shared.away = false;
        begin(trail, "after");
        assertThat(ids(trail.page(null, 10))).containsExactly("after", "meanwhile", "before");
        assertThat(shared.lines).hasSize(4);
    }

    @Test
    void storesEntriesOfAnOutageBeforeItReads() {
        shared.away = true;
        begin(trail, "meanwhile");
        end(trail, "meanwhile");
        shared.away = false;

        AuditTrail.Page page = trail.page(null, 10);

        assertThat(page.shared()).isTrue();
        assertThat(page.entries())
                .containsExactly(Map.of("id", "meanwhile", "action", "purge", "outcome", "done", "moved", 3));
        assertThat(shared.lines).hasSize(2);
    }

    @Test
    void showsAnEntryOnceIfTheReplyToItWasLost() {
        begin(trail, "before");
        shared.losesReplies = true;
        begin(trail, "lost");
        shared.losesReplies = false;
        end(trail, "lost");
        begin(trail, "after");

        assertThat(shared.lines).filteredOn(line -> line.contains("begun")).hasSize(4);
        assertThat(ids(trail.page(null, 10))).containsExactly("after", "lost", "before");
        assertThat(trail.page(null, 10).entries().get(1)).containsEntry("outcome", "done");
        AuditTrail.Page first = trail.page(null, 2);
        assertThat(ids(first)).containsExactly("after", "lost");
        assertThat(ids(trail.page(first.next(), 2))).containsExactly("before");
    }

    @Test
    void leavesOutAnEntryThatTheStoreRefusesAndWarnsOnce(CapturedOutput output) {
        shared.refused = "wrong";
        begin(trail, "wrong1");
        begin(trail, "wrong2");

        AuditTrail.Page page = trail.page(null, 10);
        assertThat(page.shared()).isFalse();
        assertThat(page.why()).contains("Redis refuses entries");
        assertThat(ids(page)).containsExactly("wrong2", "wrong1");

        begin(trail, "right");
        assertThat(ids(trail.page(null, 10))).containsExactly("right");
        assertThat(output.toString().split("The store refuses entries of the audit", -1))
                .hasSize(2);
    }

    @Test
    void givesUpTheSearchForAnEntryThatIsGone() {
        AuditTrail large = new AuditTrail(shared, 100_000);
        for (int i = 0; i < 10_000; i++) {
            shared.lines.add("{\"id\":\"e" + i + "\",\"action\":\"purge\"}");
        }

        assertThat(large.page("5-gone", 10).entries()).isEmpty();
        assertThat(shared.reads).isLessThanOrEqualTo(20);
        assertThat(ids(large.page("5-e1500", 1))).containsExactly("e1501");
    }

    @Test
    void keepsALimitedNumberOfEntries() {
        AuditTrail small = new AuditTrail(null, 2);
        for (String id : List.of("a", "b", "c")) {
            begin(small, id);
            end(small, id);
        }

        assertThat(ids(small.page(null, 10))).containsExactly("c", "b");
        assertThat(small.page(null, 10).shared()).isFalse();
        assertThat(small.page(null, 10).why()).isNull();
        AuditTrail none = new AuditTrail(shared, 0);
        begin(none, "a");
        assertThat(none.page(null, 10).entries()).isEmpty();
        assertThat(shared.lines).isEmpty();
    }

    @Test
    void showsWhatItCanReadAndRefusesAStrangeCursor() {
        shared.lines.add("not JSON");
        begin(trail, "a");

        assertThat(ids(trail.page(null, 10))).containsExactly("a");
        assertThat(trail.page("5-gone", 10).entries()).isEmpty();
        assertThatThrownBy(() -> trail.page("../x", 10)).isInstanceOf(Refusal.class);
    }
}
