/** Stocks: a buyer must never see a quantity that is gone (CP). */
@NullMarked
package io.easykit.sample.stock;

import org.jspecify.annotations.NullMarked;
