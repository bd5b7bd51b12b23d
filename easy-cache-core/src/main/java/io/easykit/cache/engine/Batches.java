package io.easykit.cache.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Splits many keys into commands of a bounded size: each batch has a command timeout of its own. */
final class Batches {

    static final int SIZE = 100;

    private Batches() {}

    static <T> List<List<T>> of(Collection<? extends T> all) {
        List<T> list = new ArrayList<>(all);
        List<List<T>> batches = new ArrayList<>();
        for (int from = 0; from < list.size(); from += SIZE) {
            batches.add(list.subList(from, Math.min(from + SIZE, list.size())));
        }
        return batches;
    }
}
