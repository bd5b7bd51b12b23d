package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.core.ResolvableType;

class ValueHintsTests {

    private final RuntimeHints hints = new RuntimeHints();

    enum Status {
        OPEN
    }

    record Row(Status status, List<Map<String, Cell[]>> cells) {}

    record Cell(Optional<Row> parent) {}

    @SuppressWarnings("rawtypes")
    record Raw(Enum status, Comparable order, Class<?> type) {}

    sealed interface Tree<T extends Comparable<T>> permits Leaf, Node {}

    record Leaf<T extends Comparable<T>>(T value) implements Tree<T> {}

    record Node<T extends Comparable<T>>(Tree<T> left, Tree<T> right) implements Tree<T> {}

    abstract static class Chain<C extends Chain<C>> {

        private final Object content = "";

        abstract C next();

        @Override
        public String toString() {
            return content.toString();
        }
    }

    @SuppressWarnings("unused")
    interface Methods {

        Row plain();

        <E extends Enum<E>> E ofEnum(Class<E> type);

        <T extends Comparable<T>> Tree<T> tree();

        Tree<?> anyTree();

        @SuppressWarnings("rawtypes")
        Tree rawTree();

        <C extends Chain<C>> C chain();

        Raw raw();
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "ofEnum", "tree", "anyTree", "rawTree", "chain", "raw"})
    void end(String method) {
        add(method);
    }

    @Test
    void followFieldsArraysAndTypeArguments() {
        add("plain");

        assertThat(reflection().onType(Row.class)).accepts(hints);
        assertThat(reflection().onType(Cell.class)).accepts(hints);
        assertThat(reflection().onType(Status.class)).accepts(hints);
    }

    @Test
    void followTheSubtypesOfSealedTypes() {
        add("rawTree");

        assertThat(reflection().onType(Leaf.class)).accepts(hints);
        assertThat(reflection().onType(Node.class)).accepts(hints);
    }

    @Test
    void leaveTypesOfTheJdkAlone() {
        add("raw");

        assertThat(reflection().onType(Raw.class)).accepts(hints);
        assertThat(reflection().onType(List.class)).rejects(hints);
    }

    private void add(String method) {
        Method declared = Stream.of(Methods.class.getDeclaredMethods())
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        new ValueHints(hints).add(ResolvableType.forMethodReturnType(declared));
    }
}
