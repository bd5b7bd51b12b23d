package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnnotatedTypesTests {

    private final AnnotatedTypes types = new AnnotatedTypes(List.of(Marked.class, AllMarked.class));

    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
    @Repeatable(AllMarked.class)
    @interface Marked {}

    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
    @interface AllMarked {
        Marked[] value();
    }

    @Marked
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.METHOD)
    @interface Composed {}

    static class Own {
        @Marked
        void method() {}
    }

    static class Twice {
        @Marked
        @Marked
        void method() {}
    }

    static class WithComposed {
        @Composed
        void method() {}
    }

    interface Declared {
        @Marked
        void method();
    }

    interface Extended extends Declared {}

    abstract static class Parent implements Extended {}

    static class Child extends Parent {
        @Override
        public void method() {}
    }

    static class Heir extends Own {}

    static class Plain implements Runnable {
        @Override
        public void run() {}
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Own.class,
                Twice.class,
                WithComposed.class,
                Declared.class,
                Extended.class,
                Child.class,
                Heir.class
            })
    void findsAnAnnotationOfAMethodOrOfOneThatItOverrides(Class<?> type) {
        assertThat(types.contains(type)).isTrue();
        assertThat(types.contains(type)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(classes = {Plain.class, Object.class, Runnable.class, List.class, int[].class, int.class})
    void findsNoneWhereThereIsNone(Class<?> type) {
        assertThat(types.contains(type)).isFalse();
    }

    @Test
    void findsThatOfAnInterfaceOfAProxy() {
        InvocationHandler none = (proxy, method, arguments) -> null;
        ClassLoader loader = getClass().getClassLoader();

        assertThat(types.contains(Proxy.newProxyInstance(loader, new Class<?>[] {Extended.class}, none)
                        .getClass()))
                .isTrue();
        assertThat(types.contains(Proxy.newProxyInstance(loader, new Class<?>[] {Runnable.class}, none)
                        .getClass()))
                .isFalse();
    }
}
