/** Stocks: a buyer must never see an outdated quantity (CP). */
@NullMarked
package io.easykit.sample.stock;

import org.jspecify.annotations.NullMarked;
