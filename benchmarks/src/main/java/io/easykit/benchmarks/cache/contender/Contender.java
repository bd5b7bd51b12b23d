package io.easykit.benchmarks.cache.contender;

/** A cache in front of the database, with the connections that it holds. */
public interface Contender extends Products, AutoCloseable {

    @Override
    void close();

    /** A contender of a cached method and of what has to be closed after use. */
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
