package io.easykit.benchmarks.contender;

/** The method that is cached. */
public interface Products {

    Product product(long id);
}
