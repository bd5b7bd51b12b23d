package io.easykit.sample.stock;

/** The stock does not exist, or its quantity is too small. */
public final class OutOfStockException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public OutOfStockException(String sku, int wanted) {
        super("There are no " + wanted + " of " + sku + " left. Order fewer, or something else.");
    }
}
