package io.easykit.cache.jackson;

import io.easykit.cache.UncacheableValueException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.jsontype.TypeSerializer;
import tools.jackson.databind.ser.ValueSerializerModifier;
import tools.jackson.databind.type.CollectionType;
import tools.jackson.databind.type.MapType;

/**
 * Refuses collections that Hibernate has not loaded, and its proxies of entities. Writing them would load them: an unexpected
 * query inside a session, an exception outside. Recognizes Hibernate by the names of its interfaces only.
 */
final class LazyValues extends ValueSerializerModifier {

    private static final long serialVersionUID = 1L;

    private static final String COLLECTION = "org.hibernate.collection.spi.PersistentCollection";
    private static final String PROXY = "org.hibernate.proxy.HibernateProxy";

    @Override
    public ValueSerializer<?> modifyCollectionSerializer(
            SerializationConfig config,
            CollectionType type,
            BeanDescription.Supplier description,
            ValueSerializer<?> serializer) {
        return guard(type.getRawClass(), serializer);
    }

    @Override
    public ValueSerializer<?> modifyMapSerializer(
            SerializationConfig config,
            MapType type,
            BeanDescription.Supplier description,
            ValueSerializer<?> serializer) {
        return guard(type.getRawClass(), serializer);
    }

    @Override
    public ValueSerializer<?> modifySerializer(
            SerializationConfig config, BeanDescription.Supplier description, ValueSerializer<?> serializer) {
        Class<?> type = description.getType().getRawClass();
        return find(type, PROXY) == null ? serializer : new Guarded(serializer, null);
    }

    private static ValueSerializer<?> guard(Class<?> type, ValueSerializer<?> serializer) {
        Class<?> lazy = find(type, COLLECTION);
        return lazy == null ? serializer : new Guarded(serializer, wasInitialized(lazy));
    }

    private static Method wasInitialized(Class<?> lazy) {
        try {
            return lazy.getMethod("wasInitialized");
        } catch (NoSuchMethodException unknown) {
            throw new IllegalStateException(
                    "Hibernate has no PersistentCollection.wasInitialized. Use a version that Spring Boot manages",
                    unknown);
        }
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

    /** Writes loaded values only. */
    private static final class Guarded extends ValueSerializer<Object> {

        private final ValueSerializer<Object> delegate;
        private final @Nullable Method wasInitialized;

        /**
         * @param wasInitialized null if nothing of this class may be written
         */
        @SuppressWarnings("unchecked") // it is the one for these very values
        Guarded(ValueSerializer<?> delegate, @Nullable Method wasInitialized) {
            this.delegate = (ValueSerializer<Object>) delegate;
            this.wasInitialized = wasInitialized;
        }

        @Override
        public void resolve(SerializationContext context) {
            delegate.resolve(context);
        }

        @Override
        public ValueSerializer<?> createContextual(SerializationContext context, @Nullable BeanProperty property) {
            return new Guarded(delegate.createContextual(context, property), wasInitialized);
        }

        @Override
        public void serialize(Object value, JsonGenerator generator, SerializationContext context) {
            requireLoaded(value);
            delegate.serialize(value, generator, context);
        }

        @Override
        public void serializeWithType(
                Object value, JsonGenerator generator, SerializationContext context, TypeSerializer type) {
            requireLoaded(value);
            delegate.serializeWithType(value, generator, context, type);
        }

        private void requireLoaded(Object value) {
            if (wasInitialized == null) {
                throw new UncacheableValueException("it holds a Hibernate proxy, "
                        + value.getClass().getTypeName()
                        + ". Load the entity with the query (join fetch, @EntityGraph), pass it through"
                        + " Hibernate.unproxy, or return a record of what is needed");
            }
            try {
                if (wasInitialized.invoke(value).equals(true)) {
                    return;
                }
            } catch (IllegalAccessException | InvocationTargetException unknown) {
                throw new IllegalStateException(
                        "PersistentCollection.wasInitialized failed. Use a version of Hibernate that Spring Boot manages",
                        unknown);
            }
            throw new UncacheableValueException("it holds a lazy collection that is not loaded, and the cache does not"
                    + " load it. Load it with the query (join fetch, @EntityGraph), or return a record of what is"
                    + " needed");
        }
    }
}
