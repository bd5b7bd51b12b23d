package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.test.ClassesWithout;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MethodScanTests {

    private static final Class<?> USER = new ClassesWithout(Missing.class, User.class).load(User.class);
    private static final Class<?> HEIR = new ClassesWithout(Missing.class, Heir.class, User.class).load(Heir.class);

    @Retention(RetentionPolicy.RUNTIME)
    @interface Marked {}

    static class Missing {}

    static class User {
        @Marked
        public Missing use() {
            return new Missing();
        }
    }

    static class Heir extends User {
        @Marked
        public void own() {}
    }

    @Test
    void readsTheMethodsOfAClass() throws NoSuchMethodException {
        Method use = User.class.getMethod("use");
        Method own = Heir.class.getMethod("own");

        assertThat(MethodScan.declared(Heir.class)).hasValue(List.of(own));
        assertThat(MethodScan.filter(Heir.class, method -> method.isAnnotationPresent(Marked.class)))
                .containsExactlyInAnyOrder(own, use);
        assertThat(MethodScan.select(Heir.class, method -> method.equals(use) ? "found" : null))
                .isEqualTo(Map.of(use, "found"));
    }

    interface Named<T> {
        @Marked
        void name(T name);

        @Marked
        default void unnamed() {}
    }

    static class Base {
        public void name(String name) {}
    }

    static class Inheriting extends Base implements Named<String> {}

    @Test
    void findsTheMethodThatRunsInsteadOfAnother() throws NoSuchMethodException {
        assertThat(MethodScan.overridden(Inheriting.class, method -> method.isAnnotationPresent(Marked.class)))
                .isEqualTo(Map.of(
                        Named.class.getMethod("name", Object.class), Base.class.getMethod("name", String.class)));
        assertThat(MethodScan.overridden(HEIR, method -> true)).isEmpty();
    }

    @Test
    void findsNoneIfATypeOfTheirSignaturesIsMissing() {
        assertThatThrownBy(USER::getDeclaredMethods).isInstanceOf(NoClassDefFoundError.class);

        assertThat(MethodScan.declared(USER)).isEmpty();
        assertThat(MethodScan.filter(USER, method -> true)).isEmpty();
        assertThat(MethodScan.select(USER, Method::getName)).isEmpty();
        // By the file of the class.
        assertThat(new AnnotatedTypes(List.of(Marked.class)).contains(USER)).isTrue();
        assertThat(new AnnotatedTypes(List.of(Deprecated.class)).contains(USER)).isFalse();
    }

    @Test
    void findsNoneIfASuperclassHasSuchAMethod() {
        assertThat(new AnnotatedTypes(List.of(Marked.class)).contains(HEIR)).isTrue();
        assertThat(MethodScan.declared(HEIR))
                .hasValueSatisfying(methods -> assertThat(methods).hasSize(1));
        assertThat(MethodScan.filter(HEIR, method -> true)).isEmpty();
    }

    @Test
    void throwsOtherExceptions() {
        IllegalStateException invalid = new IllegalStateException("an annotation is invalid");

        assertThatThrownBy(() -> MethodScan.select(User.class, method -> {
                    throw invalid;
                }))
                .isSameAs(invalid);
    }
}
