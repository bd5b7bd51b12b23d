package io.easykit.cache.aop;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;

/**
 * Resolves parameters of expressions: {@code #name} as declared on the annotated method, then as on the method that
 * runs; {@code #p0} and {@code #a0} by position.
 */
final class ParameterNames {

    private static final ParameterNameDiscoverer DISCOVERER = new DefaultParameterNameDiscoverer();

    private final Map<String, Integer> indexes = new LinkedHashMap<>();
    private final boolean compiledWithNames;

    ParameterNames(CachedMethod where) {
        for (int i = 0; i < where.method().getParameterCount(); i++) {
            indexes.put("p" + i, i);
            indexes.put("a" + i, i);
        }
        boolean declared = add(where.declaring());
        boolean running = add(where.method());
        this.compiledWithNames = declared || running;
    }

    private boolean add(Method method) {
        @Nullable String @Nullable [] names = DISCOVERER.getParameterNames(method);
        if (names == null) {
            return false;
        }
        for (int i = 0; i < names.length; i++) {
            if (names[i] != null) {
                indexes.putIfAbsent(names[i], i);
            }
        }
        return true;
    }

    @Nullable Integer indexOf(String name) {
        return indexes.get(name);
    }

    /** Whether {@code #name} is available. */
    boolean areKnown() {
        return compiledWithNames;
    }

    String describe() {
        return indexes.isEmpty()
                ? "the method has no parameters"
                : "known are "
                        + new TreeSet<>(indexes.keySet())
                                .stream().map(name -> "#" + name).collect(Collectors.joining(", "));
    }
}
