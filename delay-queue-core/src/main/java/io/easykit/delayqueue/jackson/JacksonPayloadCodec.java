package io.easykit.delayqueue.jackson;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.UndecodableMessageException;
import java.lang.reflect.Type;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** Payloads as JSON. Unknown properties are tolerated, so that senders may be newer than listeners. */
public final class JacksonPayloadCodec implements PayloadCodec {

    private final JsonMapper mapper;

    public JacksonPayloadCodec() {
        this(JsonMapper.builder().build());
    }

    public JacksonPayloadCodec(JsonMapper mapper) {
        this.mapper = mapper;
    }

    @Override
    public Bytes encode(Object payload) {
        try {
            return Bytes.of(mapper.writeValueAsBytes(payload));
        } catch (JacksonException e) {
            throw new IllegalArgumentException(
                    "A payload of " + payload.getClass().getName() + " cannot be written as JSON: "
                            + e.getOriginalMessage(),
                    e);
        }
    }

    @Override
    public Object decode(Bytes body, Type type) {
        Object payload;
        try {
            payload = mapper.readValue(body.array(), mapper.constructType(type));
        } catch (JacksonException e) {
            throw new UndecodableMessageException(
                    "The payload is no JSON for " + type.getTypeName() + ": " + e.getOriginalMessage(), e);
        }
        if (payload == null) {
            throw new UndecodableMessageException("The payload is null, not a " + type.getTypeName() + ".", null);
        }
        return payload;
    }
}
