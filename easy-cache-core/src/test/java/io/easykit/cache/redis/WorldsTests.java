package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A part that {@code equals} forgot would make one state of two, and a checker would visit fewer without a word. */
class WorldsTests {

    /** The checkers have one object for each state of an entry. */
    private static final List<Entry> ENTRIES =
            List.of(Entry.Content.NOTHING.toEntry(), Entry.Content.NOTHING.toEntry());

    static Stream<Class<?>> worlds() {
        return Stream.of(World.class, NearWorld.class, NestedWorld.class, ClearingModel.class)
                .flatMap(type -> Stream.concat(Stream.of(type), Stream.of(type.getDeclaredClasses())))
                .filter(Class::isRecord);
    }

    @ParameterizedTest
    @MethodSource("worlds")
    void differInEachOfTheirParts(Class<?> type) throws ReflectiveOperationException {
        RecordComponent[] parts = type.getRecordComponents();
        Object[] values = new Object[parts.length];
        for (int i = 0; i < parts.length; i++) {
            values[i] = sample(parts[i].getType(), 0);
        }
        Object world = make(type, values);
        assertThat(make(type, values)).isEqualTo(world).hasSameHashCodeAs(world);
        for (int i = 0; i < parts.length; i++) {
            Object[] others = values.clone();
            others[i] = sample(parts[i].getType(), 1);
            assertThat(make(type, others)).as(parts[i].getName()).isNotEqualTo(world);
        }
    }

    private static Object make(Class<?> type, Object[] values) throws ReflectiveOperationException {
        Class<?>[] types = Stream.of(type.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        Constructor<?> constructor = type.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        return constructor.newInstance(values);
    }

    private static Object sample(Class<?> type, int which) throws ReflectiveOperationException {
        if (type == int.class) {
            return which;
        }
        if (type == boolean.class) {
            return which == 1;
        }
        if (type == String.class) {
            return "text " + which;
        }
        if (type == List.class) {
            return List.of(which);
        }
        if (type == Entry.class) {
            return ENTRIES.get(which);
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[which];
        }
        RecordComponent[] parts = type.getRecordComponents();
        Object[] values = new Object[parts.length];
        for (int i = 0; i < parts.length; i++) {
            values[i] = sample(parts[i].getType(), which);
        }
        return make(type, values);
    }
}
