/** Products: read often, changed seldom, so a moment of an old price is fine (AP). */
@NullMarked
package io.easykit.sample.product;

import org.jspecify.annotations.NullMarked;
