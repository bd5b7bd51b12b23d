package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import java.util.Map;
import org.springframework.boot.context.properties.bind.DefaultValue;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON settings of payloads, by the names of Jackson's features. Features that are not set keep the codec's defaults.
 *
 * @param deserialization Jackson features for reading payloads, such as fail-on-null-for-primitives. By default those
 *     of the codec apply.
 * @param enums Jackson features for enums, such as read-unknown-enum-values-as-null. By default those of the codec
 *     apply.
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
