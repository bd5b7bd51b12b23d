package io.easykit.cache.aop;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * Resolves parameters of expressions: {@code #name} as declared on the annotated method, then as on the method that
 * runs; {@code #p0} and {@code #a0} by position. A parameter {@code p1} that is not the second one makes {@code #p1} ambiguous: it is
 * refused, because Spring's own expressions mean the position or the name, by the order of the parameters.
 */
final class ParameterNames {

    private static final ParameterNameDiscoverer DISCOVERER = new DefaultParameterNameDiscoverer();

    private final CachedMethod where;
    private final Map<String, Integer> indexes = new LinkedHashMap<>();
    /** Names that are also the position of another parameter. */
    private final Map<String, Integer> ambiguous = new HashMap<>();

    private final boolean compiledWithNames;

    ParameterNames(CachedMethod where) {
        this.where = where;
        for (int i = 0; i < where.method().getParameterCount(); i++) {
            indexes.put("p" + i, i);
            indexes.put("a" + i, i);
        }
        Map<String, Integer> positions = Map.copyOf(indexes);
        boolean declared = add(where.declaring(), positions);
        boolean running = add(where.method(), positions);
        this.compiledWithNames = declared || running;
    }

    private boolean add(Method method, Map<String, Integer> positions) {
        @Nullable String @Nullable [] names = DISCOVERER.getParameterNames(method);
        if (names == null) {
            return false;
        }
        for (int i = 0; i < names.length; i++) {
            String name = names[i];
            if (name != null) {
                indexes.putIfAbsent(name, i);
                if (positions.getOrDefault(name, i) != i) {
                    ambiguous.putIfAbsent(name, i);
                }
            }
        }
        return true;
    }

    @Nullable Integer indexOf(String name) {
        return indexes.get(name);
    }

    /** @throws InvalidCacheDeclarationException if the name is also the position of another parameter */
    void requireUnambiguous(String attribute, String text, String name) {
        Integer index = ambiguous.get(name);
        if (index != null) {
            throw where.problem(
                    "'" + text + "' in " + attribute + " uses #" + name
                            + ", which is the name of one parameter and the position of another",
                    "Rename the parameter, or write " + position(index) + " for it.");
        }
    }

    /** Unlike {@code #root.args[0]}, a position has the type of the parameter, and may be that of a batch. */
    private String position(int index) {
        return Stream.of("a" + index, "p" + index)
                .filter(name -> !ambiguous.containsKey(name))
                .map(name -> "#" + name)
                .findFirst()
                .orElse("#root.args[" + index + "]");
    }

    /**
     * Checks all names of an expression that Spring evaluates, and that may be malformed.
     *
     * @throws InvalidCacheDeclarationException if one is also the position of another parameter
     */
    void requireUnambiguous(String attribute, String text) {
        if (ambiguous.isEmpty() || text.isBlank()) {
            return;
        }
        SpelNode root;
        try {
            root = new SpelExpressionParser().parseRaw(text).getAST();
        } catch (ParseException | IllegalStateException malformed) {
            return;
        }
        Expressions.visit(root, node -> {
            if (node instanceof VariableReference) {
                requireUnambiguous(attribute, text, node.toStringAST().substring(1));
            }
        });
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
