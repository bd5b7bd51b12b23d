package io.easykit.cache.store;

import java.util.Map;
import java.util.Set;

/**
 * The content of one hash with epochs, at one instant.
 *
 * @param raised   the epochs of all prefixes that were ever raised in it
 * @param clearing prefixes whose clearing is prepared. A lease that is over counts until a node ends the clearing
 * @param mark     see {@link EntryStore#advanceMark}; zero if there is none
 */
public record PrefixEpochs(Map<String, Long> raised, Set<String> clearing, long mark) {

    public PrefixEpochs {
        raised = Map.copyOf(raised);
        clearing = Set.copyOf(clearing);
    }
}
