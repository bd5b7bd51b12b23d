package io.easykit.cache.engine;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;

/** Code that libraries generate, recognized by names only. Its state is no content of a value. */
final class GeneratedCode {

    /** Set if attributes of the entity may not be loaded, so that the copy would lack them. */
    private static final String HIBERNATE_LAZY = "$$_hibernate_attributeInterceptor";

    private static final String HIBERNATE_INTERCEPTOR =
            "org.hibernate.bytecode.enhance.spi.interceptor.BytecodeLazyAttributeInterceptor";

    private static final String ECLIPSELINK_LAZY = "_persistence_fetchGroup";
    private static final String ECLIPSELINK_LAZY_SUFFIX = "_vh";

    private static final String PROTOBUF_MESSAGE = "com.google.protobuf.MessageLite";

    private static final ClassValue<Boolean> MESSAGES = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return find(type, PROTOBUF_MESSAGE) != null;
        }
    };

    private GeneratedCode() {}

    /** Whether it is a message of Protobuf. Its {@code equals} compares its content, and its fields hold what it has computed. */
    static boolean isMessage(Object value) {
        return MESSAGES.get(value.getClass());
    }

    private static @Nullable Class<?> find(@Nullable Class<?> type, String name) {
        if (type == null || type.getName().equals(name)) {
            return type;
        }
        for (Class<?> parent : type.getInterfaces()) {
            Class<?> found = find(parent, name);
            if (found != null) {
                return found;
            }
        }
        return find(type.getSuperclass(), name);
    }

    /** Whether Hibernate or EclipseLink has added the field to an entity for its own use. */
    static boolean isOfAPersistenceProvider(Field field) {
        String name = field.getName();
        if (!Modifier.isTransient(field.getModifiers())) {
            return false;
        }
        return name.startsWith("$$_hibernate_")
                ? !name.equals(HIBERNATE_LAZY)
                : name.startsWith("_persistence_")
                        && !name.equals(ECLIPSELINK_LAZY)
                        && !name.endsWith(ECLIPSELINK_LAZY_SUFFIX);
    }

    /** Whether the field holds an interceptor of Hibernate for an entity all of whose attributes are loaded. */
    static boolean hasNothingToLoad(Field field, @Nullable Object content) {
        if (content == null || !field.getName().equals(HIBERNATE_LAZY)) {
            return false;
        }
        Class<?> type = find(content.getClass(), HIBERNATE_INTERCEPTOR);
        try {
            return type != null
                    && Boolean.FALSE.equals(
                            type.getMethod("hasAnyUninitializedAttributes").invoke(content));
        } catch (ReflectiveOperationException unknown) {
            return false;
        }
    }
}
