package io.easykit.cache.jackson;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import io.easykit.cache.ValueCodec;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/**
 * A {@link ValueCodec} that writes JSON: all fields of an object, regardless of its getters and its annotations for web
 * clients. Never give it the mapper of the web layer.
 */
public final class JacksonValueCodec implements ValueCodec {

    private static final byte[] NOTHING = "{}".getBytes(StandardCharsets.UTF_8);

    private final JsonMapper mapper;
    private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();
    private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();

    /** With the mapper of {@link #mapper()}. */
    public JacksonValueCodec() {
        this(mapper().build());
    }

    public JacksonValueCodec(JsonMapper mapper) {
        this.mapper = mapper;
    }

    /**
     * A mapper that restores its own output, to add modules to. It includes the pages, slices, page requests and sorts of Spring
     * Data. What is added later wins.
     */
    public static JsonMapper.Builder mapper() {
        SimpleModule module = new SimpleModule("easy-cache")
                .addAbstractTypeMapping(Set.class, LinkedHashSet.class)
                .setSerializerModifier(new LazyValues());
        if (isPresent("java.sql.Timestamp")) {
            ExactTypes.addTo(module);
        }
        JsonMapper.Builder mapper = JsonMapper.builder()
                .annotationIntrospector(new CodecAnnotations())
                .changeDefaultVisibility(visibility -> visibility
                        .withFieldVisibility(Visibility.ANY)
                        .withGetterVisibility(Visibility.NONE)
                        .withIsGetterVisibility(Visibility.NONE)
                        .withSetterVisibility(Visibility.NONE))
                .enable(MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS)
                .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
                .disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
                .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                .enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
                .addModule(module);
        return isPresent("org.springframework.data.domain.Slice") ? mapper.addModule(SpringDataTypes.module()) : mapper;
    }

    @Override
    public byte[] encode(Object value, Type type) {
        return writers.computeIfAbsent(type, some -> mapper.writerFor(javaType(some)))
                .writeValueAsBytes(value);
    }

    @Override
    public Object decode(byte[] bytes, Type type) {
        return readers.computeIfAbsent(type, some -> mapper.readerFor(javaType(some)))
                .readValue(bytes);
    }

    /** Checks the type and the types of its content; those of fields are checked with the first value. */
    @Override
    public @Nullable String problemWith(Type type) {
        return problemWith(javaType(type));
    }

    @Override
    public String describe(Throwable failure) {
        return JacksonFailure.describe(failure);
    }

    private @Nullable String problemWith(JavaType type) {
        for (int i = 0; i < type.containedTypeCount(); i++) {
            String problem = problemWith(type.containedType(i));
            if (problem != null) {
                return problem;
            }
        }
        if (type.isArrayType()) {
            return problemWith(type.getContentType());
        }
        try {
            mapper.readerFor(type)
                    .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .readValue(NOTHING);
            return null;
        } catch (InvalidDefinitionException unreadable) {
            return "a " + type.toCanonical() + " can be written but not read again: " + unreadable.getOriginalMessage();
        } catch (RuntimeException | LinkageError empty) {
            return null; // it needs content, so this is no statement about the type
        }
    }

    private JavaType javaType(Type type) {
        return mapper.constructType(type);
    }

    private static boolean isPresent(String name) {
        try {
            Class.forName(name, false, JacksonValueCodec.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }
}
