package io.easykit.cache.engine;

import io.easykit.cache.BatchLoader;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** A table, and the ids of each call that read it. */
final class BatchSource implements BatchLoader<Integer, String, RuntimeException> {

    final List<List<Integer>> calls = new CopyOnWriteArrayList<>();
    volatile String version = "";
    volatile Runnable during = () -> {};

    @Override
    public Map<Integer, String> load(Collection<Integer> missing) {
        calls.add(List.copyOf(missing));
        Map<Integer, String> found = new HashMap<>();
        missing.forEach(id -> found.put(id, id + version));
        during.run();
        return found;
    }

    /** The values of some elements, in their order. */
    static Map<Integer, String> all(Collection<Integer> ids, String version) {
        Map<Integer, String> expected = new LinkedHashMap<>();
        ids.forEach(id -> expected.put(id, id + version));
        return expected;
    }
}
