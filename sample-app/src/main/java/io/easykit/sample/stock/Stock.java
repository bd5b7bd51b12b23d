package io.easykit.sample.stock;

/**
 * The remaining quantity of an article.
 *
 * @param quantity larger than the maximum of one order or one correction, so that reservations can always be returned
 */
public record Stock(String sku, long quantity) {}
