package io.easykit.cache.jackson;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.easykit.cache.type.TypeFingerprint;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DatabindContext;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.exc.InvalidTypeIdException;
import tools.jackson.databind.jsontype.NamedType;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;
import tools.jackson.databind.jsontype.TypeIdResolver;
import tools.jackson.databind.jsontype.impl.StdTypeResolverBuilder;

/**
 * Type ids that name a class, each with the fingerprint of that class: {@code com.shop.Square#x7Ab3k}.
 *
 * <p>The fingerprint of a cache covers its type and the subtypes that are listed. A class that only the type id of a value
 * names is not among them. If it has changed since the value was stored, the value cannot be read.
 */
final class FingerprintedTypeIds extends StdTypeResolverBuilder {

    private static final char SEPARATOR = '#';

    private static final ClassValue<String> FINGERPRINTS = new ClassValue<>() {
        @Override
        protected String computeValue(Class<?> type) {
            return TypeFingerprint.of(type);
        }
    };

    private final boolean ofClass;

    /**
     * @param ofClass whether the annotation stands on a class, not on a field
     */
    FingerprintedTypeIds(boolean ofClass) {
        this.ofClass = ofClass;
    }

    private FingerprintedTypeIds(FingerprintedTypeIds base, Class<?> defaultImpl) {
        super(base, defaultImpl);
        this.ofClass = base.ofClass;
    }

    /** Whether ids of this kind name classes that nothing lists. */
    static boolean suit(JsonTypeInfo.@Nullable Value info) {
        return info != null
                && switch (info.getIdType()) {
                    case CLASS, MINIMAL_CLASS, CUSTOM -> true;
                    default -> false;
                };
    }

    /** On a class, Jackson takes an external property for an ordinary one. */
    @Override
    public StdTypeResolverBuilder init(JsonTypeInfo.Value info, @Nullable TypeIdResolver resolver) {
        boolean external = ofClass && info.getInclusionType() == JsonTypeInfo.As.EXTERNAL_PROPERTY;
        return super.init(external ? info.withInclusionType(JsonTypeInfo.As.PROPERTY) : info, resolver);
    }

    @Override
    public StdTypeResolverBuilder withDefaultImpl(Class<?> defaultImpl) {
        return new FingerprintedTypeIds(this, defaultImpl);
    }

    @Override
    protected TypeIdResolver idResolver(
            DatabindContext context,
            JavaType base,
            PolymorphicTypeValidator validator,
            Collection<NamedType> subtypes,
            boolean forSerialization,
            boolean forDeserialization) {
        return new Resolver(
                super.idResolver(context, base, validator, subtypes, forSerialization, forDeserialization), base);
    }

    private record Resolver(TypeIdResolver plain, JavaType base) implements TypeIdResolver {

        @Override
        public void init(JavaType type) {
            plain.init(type);
        }

        @Override
        public @Nullable String idFromValue(DatabindContext context, Object value) {
            return marked(plain.idFromValue(context, value), classOf(value));
        }

        @Override
        public @Nullable String idFromValueAndType(
                DatabindContext context, @Nullable Object value, Class<?> suggested) {
            return marked(
                    plain.idFromValueAndType(context, value, suggested), value == null ? suggested : classOf(value));
        }

        private static Class<?> classOf(Object value) {
            return value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
        }

        /** Classes of the JDK have no fingerprint here: only their names count, and some ids name another class. */
        private static @Nullable String marked(@Nullable String id, Class<?> type) {
            return id == null
                    ? null
                    : id + SEPARATOR + (type.getName().startsWith("java.") ? "" : FINGERPRINTS.get(type));
        }

        @Override
        public @Nullable String idFromBaseType(DatabindContext context) {
            return plain.idFromBaseType(context);
        }

        @Override
        public @Nullable JavaType typeFromId(DatabindContext context, String id) {
            int end = id.lastIndexOf(SEPARATOR);
            if (end < 0) {
                return plain.typeFromId(context, id);
            }
            JavaType type = plain.typeFromId(context, id.substring(0, end));
            String fingerprint = id.substring(end + 1);
            if (type != null
                    && !fingerprint.isEmpty()
                    && !FINGERPRINTS.get(type.getRawClass()).equals(fingerprint)) {
                throw InvalidTypeIdException.from(
                        context instanceof DeserializationContext reading ? reading.getParser() : null,
                        "The class has changed since the value was stored",
                        base,
                        id);
            }
            return type;
        }

        @Override
        public @Nullable String getDescForKnownTypeIds() {
            return plain.getDescForKnownTypeIds();
        }

        @Override
        public JsonTypeInfo.Id getMechanism() {
            return plain.getMechanism();
        }
    }
}
