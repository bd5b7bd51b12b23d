package io.easykit.cache.jackson;

import io.easykit.cache.ValueCodec;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/** A {@link ValueCodec} that writes JSON. Use a mapper of its own, never the one of the web layer. */
public final class JacksonValueCodec implements ValueCodec {

    private final JsonMapper mapper;
    private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();
    private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();

    /** With the mapper's defaults (dates as ISO texts, unknown properties ignored), and dates keep their zone. */
    public JacksonValueCodec() {
        this(JsonMapper.builder()
                .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
                .enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
                .build());
    }

    public JacksonValueCodec(JsonMapper mapper) {
        this.mapper = mapper;
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

    private JavaType javaType(Type type) {
        return mapper.constructType(type);
    }
}
