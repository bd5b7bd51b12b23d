package io.easykit.sample.stock;

/**
 * What is left of something.
 *
 * @param quantity more than one order or one correction can say, so that reservations always fit back in
 */
public record Stock(String sku, long quantity) {}
