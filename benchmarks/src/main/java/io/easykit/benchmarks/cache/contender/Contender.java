package io.easykit.benchmarks.cache.contender;

/** A cache in front of the database, with its connections. */
public interface Contender extends Products, AutoCloseable {

    @Override
    void close();

    /** Creates a contender from a cached method and an action that closes its resources. */
    static Contender of(Products cached, Runnable close) {
        return new Contender() {
            @Override
            public Product product(long id) {
                return cached.product(id);
            }

            @Override
            public void close() {
                close.run();
            }
        };
    }
}
