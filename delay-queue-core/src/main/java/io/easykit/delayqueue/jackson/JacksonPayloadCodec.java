package io.easykit.delayqueue.jackson;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.support.Bytes;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.introspect.DefaultAccessorNamingStrategy;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.TypeSerializer;
import tools.jackson.databind.module.SimpleModule;

/**
 * Payloads as JSON. The default mapper tolerates the differences of a rolling deploy: see {@link #defaults()}. Exceptions of
 * this codec name types, properties and positions, and never quote the payload.
 */
public final class JacksonPayloadCodec implements PayloadCodec {

    private static final Bytes NULL = Bytes.of("null".getBytes(StandardCharsets.US_ASCII));

    private static final byte[] NOTHING = "{}".getBytes(StandardCharsets.US_ASCII);

    /** A message that the queue takes can be read: its size has a limit of its own. Only nesting stays limited, for the stack. */
    private static final StreamReadConstraints ANY_LENGTH = StreamReadConstraints.builder()
            .maxNumberLength(Integer.MAX_VALUE)
            .maxNameLength(Integer.MAX_VALUE)
            .maxStringLength(Integer.MAX_VALUE)
            .build();

    private final JsonMapper mapper;

    public JacksonPayloadCodec() {
        this(defaults().build());
    }

    /**
     * A codec that writes and reads with the settings of a mapper. It also refuses payloads of a class whose JSON would lack a field or
     * a constructor parameter of it.
     *
     * @param mapper such as one built from {@link #defaults()}
     */
    public JacksonPayloadCodec(JsonMapper mapper) {
        this.mapper = LossCheck.in(mapper);
    }

    /**
     * The mapper of a new codec, to be adjusted. Differences from Jackson's own defaults:
     *
     * <ul>
     *   <li>Versions of an application understand each other: a primitive that is missing or null is 0 or false, and an unknown
     *       enum constant is the one with {@code @JsonEnumDefaultValue}, if there is one. Constants go by their names. Unknown
     *       properties are ignored, as Jackson 3 does by itself.
     *   <li>Nothing is lost in silence: collections with a getter only and final fields are filled, sets keep their
     *       order, {@code geteMail()} is an accessor of a field {@code eMail}, times keep their zone, a
     *       {@code java.sql.Timestamp} keeps its nanoseconds, a {@code java.sql.Date} and a {@code java.sql.Time} are the same
     *       local date and time on nodes of all time zones, an integer is not read from a number with a fraction, a number with
     *       a fraction keeps its digits where no type is declared, and objects without any property are refused.
     *   <li>What can be sent can be read: numbers, names and texts have no limits of their own. Objects nest 500 levels deep.
     * </ul>
     */
    public static JsonMapper.Builder defaults() {
        JsonMapper.Builder mapper = JsonMapper.builder(
                        JsonFactory.builder().streamReadConstraints(ANY_LENGTH).build())
                .addModule(new SimpleModule("delay-queue").addAbstractTypeMapping(Set.class, LinkedHashSet.class))
                .accessorNaming(new DefaultAccessorNamingStrategy.Provider()
                        .withBaseNameValidator(JacksonPayloadCodec::isNameOfProperty))
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                .enable(EnumFeature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE)
                .disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
                .enable(MapperFeature.USE_GETTERS_AS_SETTERS, MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS)
                .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
                .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                .enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION);
        return isPresent("java.sql.Timestamp") ? mapper.addModule(SqlForms.module()) : mapper;
    }

    /** Getters and setters of a field {@code eMail} are often {@code geteMail} and {@code seteMail}; {@code issued} is none. */
    static boolean isNameOfProperty(char first, String method, int prefix) {
        return prefix == 0
                || (Character.isLetter(first) && !Character.isLowerCase(first)) // many scripts have no case
                || first == '_'
                || (method.length() > prefix + 1 && Character.isUpperCase(method.charAt(prefix + 1)));
    }

    private static boolean isPresent(String name) {
        try {
            Class.forName(name, false, JacksonPayloadCodec.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }

    @Override
    public Bytes encode(Object payload) {
        return encode(payload, null);
    }

    @Override
    public Bytes encode(Object payload, @Nullable Type type) {
        Bytes json;
        if (type == null) {
            requireTypeIds(payload);
        }
        try {
            ObjectWriter writer = type == null ? mapper.writer() : mapper.writerFor(mapper.constructType(type));
            json = Bytes.of(writer.writeValueAsBytes(payload));
        } catch (JacksonException e) {
            throw new IllegalArgumentException(
                    "A payload of " + payload.getClass().getName() + nameOf(type) + " cannot be written as JSON: "
                            + JsonProblem.of(e) + ".");
        }
        if (json.equals(NULL)) {
            throw new IllegalArgumentException(
                    "A payload of " + payload.getClass().getName() + nameOf(type)
                            + " becomes null as JSON, which no listener could be given: send a value, such as the id of what it is"
                            + " about.");
        }
        return json;
    }

    /** Of elements of a list or values of a map, Jackson knows no declared type, and writes no type ids. */
    private void requireTypeIds(Object payload) {
        Set<Class<?>> known = new HashSet<>();
        Set<Object> containers = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> remaining = new ArrayDeque<>(List.of(payload));
        while (!remaining.isEmpty()) {
            for (Object element : untypedElements(remaining.pop())) {
                if (element != null && known.add(element.getClass()) && losesTypeId(element.getClass())) {
                    throw new IllegalArgumentException(
                            "A payload of " + payload.getClass().getName() + " has elements of "
                                    + element.getClass().getName()
                                    + ", whose type ids would be missing in the JSON: send it with its"
                                    + " payloadType, such as List<Animal>, or List<Object> to leave them out.");
                }
                if (isContainer(element) && containers.add(element)) {
                    remaining.push(element);
                }
            }
        }
    }

    private static boolean isContainer(@Nullable Object value) {
        return value instanceof Collection
                || value instanceof Map
                || value instanceof Optional
                || value instanceof Object[];
    }

    /** Returns the elements of a container whose class does not declare their type; none of any other value. */
    private Collection<?> untypedElements(Object value) {
        JavaType content =
                isContainer(value) ? mapper.constructType(value.getClass()).getContentType() : null;
        if (content == null || !content.isJavaLangObject()) {
            return List.of();
        }
        if (value instanceof Map<?, ?> map) {
            return map.values();
        }
        if (value instanceof Optional<?> optional) {
            return optional.stream().toList();
        }
        return value instanceof Collection<?> all ? all : Arrays.asList((Object[]) value);
    }

    private boolean losesTypeId(Class<?> element) {
        SerializationContext context = mapper._serializationContext();
        TypeSerializer ids = context.findTypeSerializer(mapper.constructType(element));
        boolean isWritten = ids == null
                || ids.getTypeInclusion() == JsonTypeInfo.As.EXISTING_PROPERTY
                || context.findTypeSerializer(mapper.constructType(Object.class)) != null;
        return !isWritten;
    }

    @Override
    public Object decode(Bytes body, Type type) {
        Object payload;
        try {
            payload = mapper.readValue(body.array(), mapper.constructType(type));
        } catch (JacksonException e) {
            throw new UndecodableMessageException(
                    "The payload of " + body + " cannot be read as " + type.getTypeName() + ": " + JsonProblem.of(e)
                            + "." + remedy(body, type),
                    null);
        }
        if (payload == null) {
            throw new UndecodableMessageException("The payload is null, not a " + type.getTypeName() + ".", null);
        }
        return payload;
    }

    /** A single message for a method that was meant to take several is a frequent mistake. */
    private String remedy(Bytes body, Type type) {
        return mapper.constructType(type).isCollectionLikeType() && !isArray(body)
                ? " It is no array. A method that takes several messages in a list needs batchSize."
                : "";
    }

    private static boolean isArray(Bytes body) {
        return new String(body.array(), StandardCharsets.UTF_8).stripLeading().startsWith("[");
    }

    @Override
    public @Nullable String problemWith(Type type) {
        try {
            mapper.readValue(NOTHING, mapper.constructType(type));
            return null;
        } catch (InvalidDefinitionException unreadable) {
            return type.getTypeName() + " cannot be read from JSON: " + JsonProblem.of(unreadable);
        } catch (RuntimeException | LinkageError empty) {
            return null; // it needs content, which does not concern the type
        }
    }

    private static String nameOf(@Nullable Type type) {
        return type == null ? "" : " as " + type.getTypeName();
    }
}
