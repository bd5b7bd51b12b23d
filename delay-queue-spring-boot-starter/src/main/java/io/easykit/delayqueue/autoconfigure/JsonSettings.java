package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import java.util.Map;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * How payloads are read and written as JSON, by the names of Jackson's features. Features that are not set have the defaults
 * of the codec.
 *
 * @param deserialization features of reading, such as fail-on-null-for-primitives
 * @param enums features of enums, such as read-unknown-enum-values-as-null
 */
record JsonSettings(
        @DefaultValue Map<DeserializationFeature, Boolean> deserialization,
        @DefaultValue Map<EnumFeature, Boolean> enums) {

    JacksonPayloadCodec codec() {
        JsonMapper.Builder mapper = JacksonPayloadCodec.defaults();
        deserialization.forEach(mapper::configure);
        enums.forEach(mapper::configure);
        return new JacksonPayloadCodec(mapper.build());
    }
}
