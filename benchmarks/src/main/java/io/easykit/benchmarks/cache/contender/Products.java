package io.easykit.benchmarks.cache.contender;

/** The method that is cached. */
public interface Products {

    Product product(long id);
}
