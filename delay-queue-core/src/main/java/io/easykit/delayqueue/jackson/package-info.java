/** Payloads as JSON by Jackson 3. */
@NullMarked
package io.easykit.delayqueue.jackson;

import org.jspecify.annotations.NullMarked;
