package io.easykit.sample.stock;

/** There is not as much left as somebody wants, or no such stock. */
public final class OutOfStockException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OutOfStockException(String sku, int wanted) {
        super("There are no " + wanted + " of " + sku + " left. Order fewer, or something else.");
    }
}
