package io.easykit.trial;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The documented rule for a user of both products allows all that the rules of the two products allow, and nothing else. */
class SharedUserTests {

    private static final List<String> RESETS = List.of("resetkeys", "resetchannels", "-@all");

    private final List<String> shared = SecuredTopology.documentedRule("topologies.md");

    @Test
    void allowsWhatTheRulesOfBothProductsAllow() {
        Set<String> both = new TreeSet<>(SecuredTopology.documentedRule("easy-cache/operations.md"));
        both.addAll(SecuredTopology.documentedRule("delay-queue/operations.md"));

        assertThat(shared).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(both);
    }

    /** A later reset would remove what stands before it. */
    @Test
    void resetsBeforeItAllows() {
        assertThat(shared).containsAll(RESETS);
        assertThat(shared.indexOf("resetkeys"))
                .isLessThan(shared.indexOf("~ec:*"))
                .isLessThan(shared.indexOf("~dq:*"));
        assertThat(shared.indexOf("resetchannels")).isLessThan(shared.indexOf("&dq:*"));
        assertThat(shared.subList(0, shared.indexOf("-@all"))).noneMatch(word -> word.startsWith("+"));
    }
}
