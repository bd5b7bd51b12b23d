package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;

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
        assertThat(containsUnloaded(type.getName())).isTrue();
    }

    @ParameterizedTest
    @ValueSource(classes = {Plain.class, Object.class, Runnable.class, List.class, int[].class, int.class})
    void findsNoneWhereThereIsNone(Class<?> type) {
        assertThat(types.contains(type)).isFalse();
    }

    @Test
    void findsNoneInAClassThatIsNotLoaded() {
        assertThat(containsUnloaded(Plain.class.getName())).isFalse();
    }

    /** Such as a class of an optional dependency, which no bean of this application has. */
    @Test
    void readsAClassWithoutItsSupertypes() {
        MetadataReaderFactory missing = new SimpleMetadataReaderFactory() {
            @Override
            public MetadataReader getMetadataReader(String name) throws IOException {
                if (name.equals(Parent.class.getName())) {
                    throw new FileNotFoundException(name);
                }
                return super.getMetadataReader(name);
            }
        };

        assertThat(containsUnloaded(Child.class.getName(), missing)).isFalse();
        assertThat(containsUnloaded(Heir.class.getName(), missing)).isTrue();
    }

    private boolean containsUnloaded(String type) {
        return containsUnloaded(type, new SimpleMetadataReaderFactory());
    }

    private boolean containsUnloaded(String type, MetadataReaderFactory classes) {
        try {
            return types.contains(classes.getMetadataReader(type), classes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
