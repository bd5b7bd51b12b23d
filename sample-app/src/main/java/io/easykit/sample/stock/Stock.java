package io.easykit.sample.stock;

public record Stock(String sku, int quantity) {}
