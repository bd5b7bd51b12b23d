package io.easykit.benchmarks.cache.contender;

import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

/** Products as JSON, in easy-cache's format. */
final class Json {

    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final ObjectReader READER = MAPPER.readerFor(Product.class);
    private static final ObjectWriter WRITER = MAPPER.writerFor(Product.class);

    private Json() {}

    static byte[] write(Product product) {
        return WRITER.writeValueAsBytes(product);
    }

    static Product read(byte[] json) {
        return READER.readValue(json);
    }
}
