package io.easykit.benchmarks.cache.contender;

import java.io.Serializable;

/** The cached value: about 160 bytes of JSON. Serializable for contenders that use Java serialization by default. */
public record Product(long id, String name, String description, long priceInCents, String tags)
        implements Serializable {

    static Product of(long id) {
        return new Product(
                id,
                "Product number " + id,
                "A thing of some use, with a text as long as texts of things usually are",
                1999 + id,
                "tools, garden");
    }
}
