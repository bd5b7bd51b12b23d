package io.easykit.delayqueue.jackson;

import java.util.function.Supplier;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.GeneratorSettings;
import tools.jackson.databind.cfg.SerializationContexts;
import tools.jackson.databind.ser.SerializationContextExt;
import tools.jackson.databind.ser.SerializerCache;
import tools.jackson.databind.ser.SerializerFactory;

/**
 * Keeps no serializer that could not be completed. Jackson 3.1 caches the serializer of a class before it looks up those of its
 * properties. If that fails, later payloads of the class would lack converters and type ids. So a failure empties the cache: the next
 * send fails again.
 */
final class CompleteSerializers extends SerializationContexts.DefaultImpl {

    private static final long serialVersionUID = 1L;

    CompleteSerializers() {}

    private CompleteSerializers(TokenStreamFactory streams, SerializerFactory serializers, SerializerCache cache) {
        super(streams, serializers, cache);
    }

    @Override
    public SerializationContexts forMapper(
            Object mapper, TokenStreamFactory streams, SerializerFactory serializers, SerializerCache cache) {
        return new CompleteSerializers(streams, serializers, cache);
    }

    @Override
    public SerializationContextExt createContext(SerializationConfig config, GeneratorSettings settings) {
        return new Context(_streamFactory, config, settings, _serializerFactory, _cache);
    }

    private static final class Context extends SerializationContextExt {

        Context(
                TokenStreamFactory streams,
                SerializationConfig config,
                GeneratorSettings settings,
                SerializerFactory serializers,
                SerializerCache cache) {
            super(streams, config, settings, serializers, cache);
        }

        @Override
        protected ValueSerializer<Object> _createAndCacheUntypedSerializer(Class<?> raw, JavaType type) {
            return complete(() -> super._createAndCacheUntypedSerializer(raw, type));
        }

        @Override
        protected ValueSerializer<Object> _createAndCacheUntypedSerializer(JavaType type) {
            return complete(() -> super._createAndCacheUntypedSerializer(type));
        }

        @Override
        protected ValueSerializer<Object> _createAndCachePropertySerializer(
                Class<?> raw, JavaType type, BeanProperty property) {
            return complete(() -> super._createAndCachePropertySerializer(raw, type, property));
        }

        @Override
        protected ValueSerializer<Object> _createAndCachePropertySerializer(JavaType type, BeanProperty property) {
            return complete(() -> super._createAndCachePropertySerializer(type, property));
        }

        /** Holds the lock of the cache, so that no other thread takes a serializer before the cache is emptied. */
        private ValueSerializer<Object> complete(Supplier<ValueSerializer<Object>> maker) {
            synchronized (_serializerCache) {
                boolean isComplete = false;
                try {
                    ValueSerializer<Object> serializer = maker.get();
                    isComplete = true;
                    return serializer;
                } finally {
                    if (!isComplete) {
                        _serializerCache.flush();
                    }
                }
            }
        }
    }
}
