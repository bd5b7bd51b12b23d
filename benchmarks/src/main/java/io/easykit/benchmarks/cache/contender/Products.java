package io.easykit.benchmarks.cache.contender;

/** The cached method. */
public interface Products {

    Product product(long id);
}
