/** Products: read often and changed rarely, so a briefly stale price is acceptable (AP). */
@NullMarked
package io.easykit.sample.product;

import org.jspecify.annotations.NullMarked;
